mod page;
mod plots;
mod tables;
