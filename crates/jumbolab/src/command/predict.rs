//! `jumbolab predict`.

mod from;
mod mix;
mod optimal;
mod options;
mod table;
mod waits;

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use model::Transfer;
use report::{Prediction, Sent};
use units::Bytes;

use crate::args::{self, Arithmetic, Limit, Overhead, Predict, Question};
use crate::output;
use options::{Asked, quantity, rates};

pub(crate) fn run(args: &Predict) -> Result<()> {
    if let Some(path) = &args.output.plot {
        let inputs = args.file.iter().chain(&args.from).chain(&args.validate);
        output::spare_inputs("--plot", path, inputs)?;
    }
    match &args.question {
        Some(Question::Overhead(overhead)) => print_overhead(overhead),
        Some(Question::Limit(limit)) => print_limit(limit),
        Some(Question::Optimal(args)) => print(&optimal::prediction(args)?, &args.output),
        Some(Question::Wait(args)) => print(&waits::waits(args)?, &args.output),
        Some(Question::Bundle(args)) => print(&waits::bundles(args)?, &args.output),
        Some(Question::Arithmetic(arithmetic)) => print_sums(arithmetic),
        None => match &args.from {
            Some(from) => print(&from::prediction(from, args)?, &args.output),
            None => print_transfer(args),
        },
    }
}

fn print_overhead(args: &Overhead) -> Result<()> {
    let asked = Asked::read(&args.packets)?;
    print(
        &report::of_overhead(&asked.stack, &asked.full),
        &args.output,
    )
}

fn print_limit(args: &Limit) -> Result<()> {
    let asked = Asked::read(&args.packets)?;
    let rates = rates(&args.rate)?;
    print(
        &report::of_limit(&asked.stack, &rates, &asked.full),
        &args.output,
    )
}

fn print_sums(args: &Arithmetic) -> Result<()> {
    let mut papers = claims::papers()?;
    if let Some(name) = &args.paper {
        let names: Vec<String> = papers.iter().map(|paper| paper.name.clone()).collect();
        papers.retain(|paper| paper.name == *name);
        ensure!(
            !papers.is_empty(),
            "there is no paper {name}; write {}",
            names.join(", ")
        );
    }
    let sums = claims::sums(&papers);
    match args.json {
        true => output::print_lines(claims::sum_lines(&sums)?),
        false => output::print_report(&claims::sums_table(&sums, output::width())),
    }
}

fn print_transfer(args: &Predict) -> Result<()> {
    let (name, size) = match (&args.file, &args.size) {
        (Some(file), _) => (file.display().to_string(), size_of(file)?),
        (None, Some(size)) => (size.clone(), quantity::<Bytes>("--size", size)?),
        (None, None) => bail!(
            "predict: write overhead, limit, optimal, wait, bundle or arithmetic behind it, what is to be sent, for instance --size 5MB, or --from with a results folder"
        ),
    };
    let asked = Asked::read(&args.packets)?;
    let rate = quantity("--rate", args.rate.as_deref().unwrap_or("1gbit"))?;
    let transfers = asked.full.iter().map(|(mtu, _)| {
        let transfer = Transfer::new(&asked.stack, size, *mtu);
        Ok((
            *mtu,
            transfer.with_context(|| format!("--mtu {}", mtu.get()))?,
        ))
    });
    let transfers: Vec<_> = transfers.collect::<Result<_>>()?;
    let sent = Sent {
        name: &name,
        size,
        rate,
        hops: args.hops,
    };
    print(
        &report::of_transfer(&asked.stack, &sent, &transfers),
        &args.output,
    )
}

/// The size of a file that can be sent.
fn size_of(path: &Path) -> Result<Bytes> {
    let shown = path.display();
    let facts = fs::metadata(path).with_context(|| format!("--file {shown}"))?;
    ensure!(
        facts.is_file(),
        "--file {shown}: this is no regular file; name one, or write its size with --size"
    );
    Ok(Bytes::new(facts.len()))
}

/// Writes the drawing if one is asked for, and prints tables or lines.
fn print(prediction: &Prediction, output: &args::Output) -> Result<()> {
    if let Some(path) = &output.plot {
        let shown = path.display();
        ensure!(
            path.extension().is_some_and(|own| own == "svg"),
            "--plot {shown}: is drawn as SVG; write a name that ends in .svg"
        );
        files::replace(
            path,
            |file| Ok(file.write_all(prediction.svg().as_bytes())?),
        )
        .with_context(|| format!("--plot {shown}"))?;
    }
    match output.json {
        true => output::print_lines(prediction.lines.iter().cloned()),
        false => output::print_report(&document::text(&prediction.document, output::width())),
    }
}
