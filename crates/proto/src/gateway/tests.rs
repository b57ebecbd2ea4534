mod crossing;
mod hostile;
mod router;
mod sealed;
mod support;
