mod crossing;
mod hostile;
mod record;
mod router;
mod sealed;
mod support;
