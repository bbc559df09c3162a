//! Publish: the last look, the check-list, the files, and the command that does the same.

use minijinja::{Value, context};
use throng::plan::Registry;
use throng::release::{Output, Publish};
use throng::report::pieces::{count, percent};
use throng::report::{self, quoted};
use throng::run::{Anonymize, Prepared};
use throng::{Error, ErrorCode, Result, Role};

use super::{View, render, work};
use crate::act::Order;
use crate::project::Project;
use crate::studio::{Published, PublishedFile, SECRET, Studio};
use crate::work::{Kind, Work};

/// What is confirmed before anything is published: name and words.
pub fn checks(view: &View<'_>) -> Vec<(&'static str, String)> {
    let names = |roles: &[Role]| {
        roles.iter().flat_map(|role| view.columns(*role)).map(|(_, name)| name).collect::<Vec<_>>()
    };
    let unsure = view.opened.suggestion.checks.len();
    let mut checks = vec![(
        "roles",
        match unsure {
            0 => "I looked at the role of every column.".to_owned(),
            _ => format!(
                "I looked at the role of every column, also of the {} whose guess was marked as not sure.",
                count(unsure as u64)
            ),
        },
    )];
    let left_out = names(&[Role::Identifier, Role::Person]);
    if !left_out.is_empty() {
        checks.push((
            "identifiers",
            format!("Not published: {}. No other column names people.", left_out.join(", ")),
        ));
    }
    let as_is = names(&[Role::Other, Role::Class, Role::Sensitive]);
    if !as_is.is_empty() {
        checks.push((
            "as-is",
            format!("Published as in the table: {}. I decided on each of them.", as_is.join(", ")),
        ));
    }
    checks.push((
        "requirement",
        "What the policy asks for under [privacy] is what our rules demand for these recipients.".to_owned(),
    ));
    checks.push((
        "looked",
        "I looked at the result: classes, distributions, and rows beside the table.".to_owned(),
    ));
    checks.push((
        "kept",
        "The table, the report and the secret stay with us; only the release is handed on.".to_owned(),
    ));
    checks
}

/// The screen.
pub fn show(view: &View<'_>) -> Result<String> {
    let result = view.studio.result();
    let items = checks(view);
    let (ticked, repeatable, policy_name) = view.studio.project(|project| {
        let ticked: Vec<bool> = items.iter().map(|(name, _)| project.ticked(name)).collect();
        (ticked, project.repeatable(), project.policy_name().to_owned())
    });
    let order = order_at(view);
    let fingerprint = view.studio.project(|project| project.fingerprint());
    let looked = result.as_ref().is_some_and(|made| made.looked.is_some());
    let published = view.studio.published();
    let measures = result.as_ref().map(|made| &made.kept.report.measures);
    let as_is = measures.map(|measures| percent(measures.published_as_is.unique_share));
    render(
        "publish.html",
        context! {
            checks => items.iter().zip(&ticked).map(|((name, words), ticked)| context! { name => *name, words => words.clone(), ticked => *ticked }).collect::<Vec<_>>(),
            all_ticked => ticked.iter().all(|ticked| *ticked),
            made => looked,
            kept => result.is_some(),
            has_recipe => result.as_ref().is_some_and(|made| made.kept.has_recipe),
            has_certificate => result.as_ref().is_some_and(|made| made.kept.has_certificate),
            headline => measures.map(|measures| context! {
                k => count(measures.k), loss => percent(measures.gcp), unique => as_is.clone(), rows => count(measures.rows_published),
            }),
            order => context! {
                release => order.release.clone(), report => order.report.clone(), publish => order.publish.clone(), escape => order.escape,
                recipe => order.recipe, certificate => order.certificate, replace => order.replace,
            },
            formats => throng::format::FORMATS.iter().map(|own| context! { ending => own.endings[0], name => own.name }).collect::<Vec<_>>(),
            repeatable,
            command => command(&view.opened.name, &policy_name, &order, repeatable),
            policy_name,
            published => published.map(|own| context! {
                current => own.fingerprint == fingerprint,
                headline => own.headline.clone(),
                files => own.files.iter().map(file).collect::<Vec<_>>(),
            }),
            work => work(view.studio.works.of(Kind::Publish)),
            making => work(view.studio.works.of(Kind::Result)),
        },
    )
}

fn file(own: &PublishedFile) -> Value {
    context! { name => own.name.clone(), what => own.what.clone(), bytes => count(own.bytes), hash => own.hash.clone() }
}

/// What is to be written, as the address says.
fn order_at(view: &View<'_>) -> Order {
    let text = |key: &str, otherwise: &str| view.at.get(key).cloned().unwrap_or_else(|| otherwise.to_owned());
    let flag = |key: &str| view.at.get(key).is_some_and(|own| own == "yes");
    Order {
        release: text("release", "release.csv"),
        report: text("report", "report.html"),
        publish: text("publish", "cells"),
        escape: flag("escape"),
        recipe: flag("recipe"),
        certificate: flag("certificate"),
        replace: flag("replace"),
    }
}

/// The arguments of the command that does the same.
pub fn arguments(table: &str, policy: &str, order: &Order, repeatable: bool) -> Vec<String> {
    let mut words = vec!["anonymize", table, "--policy", policy, "-o", &order.release];
    if !order.report.is_empty() {
        words.extend(["--report", &order.report]);
    }
    if order.publish != "cells" {
        words.extend(["--publish", &order.publish]);
    }
    if order.escape {
        words.push("--escape-formulas");
    }
    if order.recipe {
        words.extend(["--recipe", RECIPE]);
    }
    if order.certificate {
        words.extend(["--certificate", CERTIFICATE]);
    }
    if repeatable {
        words.extend(["--secret", SECRET]);
    }
    words.into_iter().map(str::to_owned).collect()
}

const RECIPE: &str = "recipe.json";
const CERTIFICATE: &str = "certificate.json";

fn command(table: &str, policy: &str, order: &Order, repeatable: bool) -> String {
    let words = arguments(table, policy, order, repeatable);
    format!("throng {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// Checks what is to be written and says how; the outcome runs in the background.
pub fn prepare(
    view: &View<'_>,
    order: &Order,
) -> Result<impl FnOnce(&Studio, &Work) -> Result<Published> + Send + 'static> {
    let studio = view.studio;
    let missing = studio.project(|project| unconfirmed(view, project));
    if let Some(words) = missing {
        return Err(Error::new(ErrorCode::BadUsage, "not everything on the check-list is confirmed")
            .with_hint(format!("confirm: {words}")));
    }
    if studio.result().is_none_or(|made| made.looked.is_none()) {
        return Err(Error::new(ErrorCode::BadUsage, "nobody looked at a release of this policy yet")
            .with_hint("make the result first"));
    }
    let publish = match order.publish.as_str() {
        "cells" => Publish::Cells,
        "bounds" => Publish::Bounds,
        "permutation" => Publish::Permutation,
        _ => return Err(Error::new(ErrorCode::BadValue, "there is no such way to publish")),
    };
    let release = place(studio, &order.release, order.replace)?;
    let report = match order.report.as_str() {
        "" => None,
        name if name.ends_with(".html") || name.ends_with(".json") => {
            Some(place(studio, name, order.replace)?)
        }
        name => {
            return Err(
                Error::new(ErrorCode::BadFileEnding, "a report must end in .json or .html").in_file(name)
            );
        }
    };
    let recipe = order.recipe.then(|| place(studio, RECIPE, order.replace)).transpose()?;
    let certificate = order.certificate.then(|| place(studio, CERTIFICATE, order.replace)).transpose()?;
    let (policy_name, fingerprint, repeatable) = studio
        .project(|project| (project.policy_name().to_owned(), project.fingerprint(), project.repeatable()));
    let run = Anonymize {
        publish,
        hashes: true,
        secret: Some(studio.secret()?),
        formulas: if order.escape {
            throng::formula::Formulas::Escape
        } else {
            throng::formula::Formulas::Keep
        },
        proves: order.certificate,
        registry: Registry::default(),
        ..Anonymize::new(view.opened.path.clone(), release, view.policy.clone())
    };
    let command = arguments(&view.opened.name, &policy_name, order, repeatable);
    let secret = repeatable.then(|| studio.folder.existing(SECRET)).transpose()?;
    Ok(move |studio: &Studio, work: &Work| {
        let mut files = run.files()?;
        if let Some(secret) = &secret {
            files.read_too("the secret", secret)?;
        }
        let report = report.map(|path| files.create("the report", &path)).transpose()?;
        let recipe = recipe.map(|path| files.create("the recipe", &path)).transpose()?;
        let certificate = certificate.map(|path| files.create("the certificate", &path)).transpose()?;
        let mut prepared = run.prepare(work)?;
        prepared.report.provenance.command = command;
        let others = [
            report.map(|output| fill_report(output, &prepared)).transpose()?,
            recipe.map(|output| fill_recipe(output, &prepared)).transpose()?,
            certificate.map(|output| fill_certificate(output, &prepared)).transpose()?,
        ];
        let mut written = vec![("release", run.release.clone())];
        if run.publish == Publish::Permutation || prepared.report.measures.permuted {
            written.push(("sensitive values by group", throng::run::sensitive_path(&run.release)));
        }
        let named = others.iter().flatten().map(|output| (what(output.path()), output.path().to_owned()));
        let written: Vec<_> = written.into_iter().chain(named).collect();
        let headline = headline(&prepared.report);
        prepared.publish_with(others.into_iter().flatten().collect())?;
        let files = written
            .into_iter()
            .map(|(what, path)| published(studio, what, &path))
            .collect::<Result<Vec<_>>>()?;
        Ok(Published { fingerprint, files, headline })
    })
}

fn what(path: &std::path::Path) -> &'static str {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(RECIPE) => "recipe",
        Some(CERTIFICATE) => "certificate, keep it",
        _ => "report, keep it",
    }
}

fn headline(report: &report::Report) -> String {
    let measures = &report.measures;
    format!(
        "{} rows, k = {}, {} lost, {} of the rows unique on all that is published.",
        count(measures.rows_published),
        count(measures.k),
        percent(measures.gcp),
        percent(measures.published_as_is.unique_share)
    )
}

fn unconfirmed(view: &View<'_>, project: &Project) -> Option<String> {
    checks(view).into_iter().find(|(name, _)| !project.ticked(name)).map(|(_, words)| words)
}

/// Where a file goes; one that exists is replaced only if that was asked for.
fn place(studio: &Studio, name: &str, replace: bool) -> Result<std::path::PathBuf> {
    let path = studio.folder.to_write(name.trim())?;
    if path.exists() && !replace {
        return Err(Error::new(ErrorCode::FileExists, "this file exists already")
            .in_file(name)
            .with_hint("name another file, or tick that existing files are replaced"));
    }
    Ok(path)
}

fn fill_report(mut output: Output, prepared: &Prepared) -> Result<Output> {
    let html = output.path().extension().is_some_and(|ending| ending == "html");
    let text = if html { report::html(&prepared.report)? } else { report::json(&prepared.report)? };
    output.write_all(text.as_bytes())?;
    Ok(output)
}

fn fill_recipe(mut output: Output, prepared: &Prepared) -> Result<Output> {
    let recipe = prepared.recipe.as_ref().ok_or_else(|| {
        Error::new(ErrorCode::NoMasks, "this method learns no masks that a recipe could hold")
            .with_hint("leave the recipe out, or use the method refine")
    })?;
    output.write_all(recipe.to_json()?.as_bytes())?;
    Ok(output)
}

fn fill_certificate(mut output: Output, prepared: &Prepared) -> Result<Output> {
    let certificate = prepared.certificate.as_ref().ok_or_else(|| {
        Error::new(ErrorCode::NoProof, "there is no proved lower bound that a certificate could hold")
            .with_hint("leave the certificate out")
    })?;
    output.write_all(certificate.to_json()?.as_bytes())?;
    Ok(output)
}

fn published(studio: &Studio, what: &str, path: &std::path::Path) -> Result<PublishedFile> {
    let read = |cause: std::io::Error| Error::io(ErrorCode::CannotRead, "read", path, &cause);
    let mut hasher = blake3::Hasher::new();
    let mut file = std::fs::File::open(path).map_err(read)?;
    let bytes = std::io::copy(&mut file, &mut hasher).map_err(read)?;
    Ok(PublishedFile {
        name: studio.folder.name_of(path)?,
        what: what.to_owned(),
        bytes,
        hash: hasher.finalize().to_hex().to_string(),
    })
}
