mod crossing;
mod hostile;
mod memory;
mod record;
mod router;
mod sealed;
mod support;
