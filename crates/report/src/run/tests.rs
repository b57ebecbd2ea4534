mod page;
mod tables;
