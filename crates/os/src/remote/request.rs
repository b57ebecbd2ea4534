//! Requests to a worker. Each is a type, with the type of its answer and what the worker
//! does; [`requests!`](crate::requests) declares them.
//!
//! A request is a line with its name and its JSON. The reply is a line of JSON: the answer,
//! or one line of text why there is none.

use std::error::Error as StdError;
use std::io::{self, Write as _};

use serde::Serialize;
use serde::de::DeserializeOwned;
use units::Span;

use crate::error::{Error, OperationContext, Result};

/// The letters of an unknown name that are shown.
const SHOWN: usize = 40;

/// A request to a worker.
pub trait Request: Serialize + DeserializeOwned + 'static {
    /// The answer.
    type Answer: Serialize + DeserializeOwned;
    /// The state of the worker that serves it.
    type Server;
    /// The name on the line and in messages.
    const NAME: &'static str;
    /// The time for the reply.
    const TIME: Span = Span::from_secs(30);

    /// Does what is asked for.
    ///
    /// # Errors
    /// The reason why there is no answer.
    fn answer(self, server: &mut Self::Server) -> std::result::Result<Self::Answer, Failure>;
}

/// The reason why there is no answer, in the worker.
pub type Failure = Box<dyn StdError + Send + Sync>;

/// A reply: the answer, or one line of text.
pub type Reply<T> = std::result::Result<T, String>;

/// A request that was read: it does what is asked for, and returns the line of its reply.
pub type Job<S> = Box<dyn FnOnce(&mut S) -> String>;

/// Reads a request of this name from its JSON; `None`: no request has the name.
pub type Requests<S> = fn(&str, &str) -> Option<Result<Job<S>>>;

/// The line of a request.
///
/// # Errors
/// Its type has no JSON.
pub fn line<R: Request>(request: &R) -> Result<String> {
    let json = serde_json::to_string(request);
    let json = json.during(|| format!("writing the request {}", R::NAME))?;
    Ok(format!("{} {json}", R::NAME))
}

/// The job of a request from its JSON.
///
/// # Errors
/// It is no such request.
pub fn job<R: Request>(json: &str) -> Result<Job<R::Server>> {
    let request: R = read_json(json)
        .map_err(|why| Error::new(format!("reading the request {}", R::NAME), why))?;
    Ok(Box::new(move |server| {
        reply(&request.answer(server).map_err(|failure| chain(&*failure)))
    }))
}

/// A job with this reply: of a request that a system does not support.
pub fn replied<S>(answer: Reply<()>) -> Job<S> {
    Box::new(move |_| reply(&answer))
}

/// Reads the request in `line`.
///
/// # Errors
/// It is none of `requests`.
pub fn read<S>(line: &str, requests: Requests<S>) -> Result<Job<S>> {
    let (name, json) = line.split_once(' ').unwrap_or((line, ""));
    requests(name, json).unwrap_or_else(|| {
        let name: String = name.chars().take(SHOWN).collect();
        Err(Error::new(
            "reading a request",
            format!("none is called {name:?}"),
        ))
    })
}

/// Does what `line` asks for, and writes the reply to standard output.
///
/// # Errors
/// It is none of `requests`, or nobody hears the reply.
pub fn answer<S>(line: &str, requests: Requests<S>, server: &mut S) -> Result<()> {
    write(&read(line, requests)?(server))
}

/// The line of a reply.
fn reply<T: Serialize>(reply: &Reply<T>) -> String {
    let line = serde_json::to_string(reply);
    line.unwrap_or_else(|error| serde_json::json!({ "Err": error.to_string() }).to_string())
}

/// Reads the line of a reply. A reason is one line of text, whatever the worker says.
///
/// # Errors
/// It is no reply with this answer: one line of text.
pub fn heard<T: DeserializeOwned>(line: &str) -> std::result::Result<Reply<T>, String> {
    let reply: Reply<T> = read_json(line)?;
    Ok(reply.map_err(|why| one_line(&why)))
}

/// Reads JSON of another process; the error is one line of text.
fn read_json<T: DeserializeOwned>(json: &str) -> std::result::Result<T, String> {
    serde_json::from_str(json).map_err(|error| one_line(&error.to_string()))
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Writes a reply to standard output that is no result of a request.
///
/// # Errors
/// Nobody hears it.
pub fn send_reply<T: Serialize>(answer: &Reply<T>) -> Result<()> {
    write(&reply(answer))
}

fn write(line: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    let written = writeln!(output, "{line}").and_then(|()| output.flush());
    written.during(|| "writing a reply")
}

/// An error with its causes.
fn chain(error: &(dyn StdError + 'static)) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// Declares the requests to a worker, and the function of the type
/// [`Requests`](crate::request::Requests) that reads them. The body of a request is what the
/// worker does; it may use `?`.
#[macro_export]
macro_rules! requests {
    (
        $(#[$about:meta])*
        $visible:vis fn $requests:ident($it:ident: $server:ty);
        $(
            $(#[$doc:meta])*
            $name:ident($($field:ident: $type:ty),*) $(within $time:ident)? -> $answer:ty $body:block
        )*
    ) => {
        $(#[$about])*
        $visible fn $requests(
            name: &str,
            json: &str,
        ) -> Option<$crate::Result<$crate::request::Job<$server>>> {
            match name {
                $(stringify!($name) => Some($crate::request::job::<$name>(json)),)*
                _ => None,
            }
        }
        $(
            $(#[$doc])*
            #[derive(serde::Serialize, serde::Deserialize)]
            $visible struct $name($($visible $type),*);

            impl $crate::request::Request for $name {
                type Answer = $answer;
                type Server = $server;
                const NAME: &'static str = stringify!($name);
                $(const TIME: units::Span = $time;)?

                fn answer(
                    self,
                    $it: &mut $server,
                ) -> ::std::result::Result<$answer, $crate::request::Failure> {
                    // Not every request needs the state of its worker.
                    let _ = &$it;
                    let Self($($field),*) = self;
                    Ok($body)
                }
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::requests! {
        fn sums(sum: u64);

        /// Add both.
        Add(one: u64, other: u64) -> u64 {
            *sum = (*sum).checked_add(one).ok_or("too much")?;
            *sum += other;
            *sum
        }
        /// Begin at zero.
        Clear() -> () { *sum = 0; }
    }

    fn replied(line: &str, sum: &mut u64) -> String {
        match read(line, sums) {
            Ok(job) => job(sum),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_request_is_done_and_answered_or_rejected_with_its_name() {
        let mut sum = 1;
        let add = line(&Add(2, 3)).unwrap();
        assert_eq!(add, "Add [2,3]");
        assert_eq!(replied(&add, &mut sum), r#"{"Ok":6}"#);
        let much = line(&Add(u64::MAX, 0)).unwrap();
        assert_eq!(replied(&much, &mut sum), r#"{"Err":"too much"}"#);
        let clear = line(&Clear()).unwrap();
        assert_eq!(replied(&clear, &mut sum), r#"{"Ok":null}"#);
        assert_eq!(sum, 0);
        let unknown = super::replied(Ok(()))(&mut sum);
        assert_eq!(heard::<Option<u64>>(&unknown).unwrap(), Ok(None));
        let absent = super::replied(Err("it needs Linux".to_owned()))(&mut sum);
        assert_eq!(absent, r#"{"Err":"it needs Linux"}"#);
        for (line, told) in [
            ("", r#"reading a request: none is called """#),
            (
                "Sub\u{1b}\n [1,2]",
                r#"reading a request: none is called "Sub\u{1b}\n""#,
            ),
            (
                "Add",
                "reading the request Add: EOF while parsing a value at line 1 column 0",
            ),
            ("Add [1]", "reading the request Add: invalid length 1"),
            (
                "Add [1,-2]",
                "reading the request Add: invalid value: integer `-2`",
            ),
        ] {
            let why = replied(line, &mut sum);
            assert!(why.starts_with(told), "{line}: {why}");
        }
        let long = "x".repeat(1_000_000);
        assert!(replied(&long, &mut sum).len() < 100);
    }
}
