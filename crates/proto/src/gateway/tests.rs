mod crossing;
mod hostile;
mod memory;
mod path;
mod record;
mod router;
mod sealed;
mod support;
