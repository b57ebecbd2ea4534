//! Files of the program: the only place where files are created, replaced,
//! truncated or removed.
//!
//! A results folder may come from somebody else. In a [`Folder`] every name is
//! therefore resolved relative to the open folder, and symbolic links are never
//! followed: a link in the folder cannot make the program write, truncate or
//! delete anything outside of it [open(2)]. New files are created exclusively, and
//! existing files are replaced by rename.
//!
//! Every input has a size limit; a file above it is rejected ([`read`],
//! [`Lines`]).

mod folder;
mod input;
mod output;
#[cfg(unix)]
mod private;
mod system;

pub use folder::Folder;
pub use input::{
    Lines, line_at, may_be_secret, open, open_regular, read, read_regular_text, read_secret,
    read_text, read_text_of,
};
pub use output::{
    append, are_same, create_folder, create_new, create_private, open_sink, remove, remove_folder,
    replace,
};
#[cfg(unix)]
pub use private::PrivateFolder;
