mod crossing;
mod support;
