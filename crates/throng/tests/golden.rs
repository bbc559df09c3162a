//! The golden vectors of the specification.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::loaded;
use serde_json::Value;
use throng::loss::{Kernel, group_ncp};
use throng::method::Partition;
use throng::release::{Order, Publish};

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/ncp.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn penalties_of_the_country_taxonomy() {
    let vectors = vectors();
    let policy = "[privacy]\nk = 1\n[attribute.country]\nrole = \"quasi\"\n\
        hierarchy = { Europe = [\"Italy\", \"France\", \"Spain\"], America = [\"US\", \"Canada\"] }\n";
    let csv = "country\nItaly\nFrance\nSpain\nUS\nCanada\n";
    let problem = loaded(csv.to_owned(), policy).problem;
    let kernel = Kernel::new(&problem.attributes);
    let domain = &problem.attributes[0].domain;
    for case in vectors["country"]["ncp"].as_array().unwrap() {
        let codes =
            case[0].as_array().unwrap().iter().map(|name| domain.code(name.as_str().unwrap()).unwrap());
        // The table lists the leaves in order, so codes are records.
        let group: Vec<u32> = codes.collect();
        let expected = case[1].as_f64().unwrap();
        assert!((group_ncp(&problem, &kernel, &group) - expected).abs() < 1e-12, "{case}");
    }
}

#[test]
fn uncertainty_and_discernibility_of_example_1() {
    let vectors = vectors();
    let points = vectors["example1_points"].as_object().unwrap();
    let names: Vec<&String> = points.keys().collect();
    let mut csv = "x,y\n".to_owned();
    for point in points.values() {
        csv += &format!("{},{}\n", point[0], point[1]);
    }
    let policy = "[privacy]\nk = 2\n[attribute.x]\nrole = \"quasi\"\n[attribute.y]\nrole = \"quasi\"\n";
    let loaded = loaded(csv, policy);
    for key in ["three_pairs", "two_triples"] {
        let example = &vectors["example1_uncertainty_is_sum_of_interval_widths"][key];
        let groups: Vec<Vec<u32>> = example["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| {
                let members = group.as_array().unwrap().iter();
                members
                    .map(|name| {
                        names.iter().position(|known| *known == name.as_str().unwrap()).unwrap() as u32
                    })
                    .collect()
            })
            .collect();
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let partition = Partition::from_sizes(groups.concat(), sizes).into();
        let release = loaded.publish(&partition, Publish::Cells, Order::Keep);
        let measures = loaded.measures(&release);
        assert_eq!(measures.discernibility, example["discernibility"].as_f64().unwrap(), "{key}");
        let widths: f64 = output_widths(&release.bytes);
        assert_eq!(widths, example["total"].as_f64().unwrap(), "{key}");
    }
}

/// Σ over records and attributes of the widths of the published ranges.
fn output_widths(release: &[u8]) -> f64 {
    let width = |cell: &String| {
        throng::table::value::range(cell, throng::table::value::number).map_or(0.0, |(low, high)| high - low)
    };
    common::rows_of_text(release).iter().skip(1).flatten().map(width).sum()
}

#[test]
fn local_recoding_of_figure_1_is_valid_and_publishes_its_extents() {
    let vectors = vectors();
    let figure = &vectors["figure1"];
    let mut csv = "age,zipcode\n".to_owned();
    for row in figure["rows"].as_array().unwrap() {
        csv += &format!("{},{}\n", row[0], row[1]);
    }
    let policy = format!(
        "[privacy]\nk = {}\n[attribute.age]\nrole = \"quasi\"\n[attribute.zipcode]\nrole = \"quasi\"\n",
        figure["k"]
    );
    let loaded = loaded(csv, &policy);
    for kind in ["global", "local"] {
        let groups: Vec<Vec<u32>> = figure[format!("{kind}_groups_by_row")]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| numbers(group).into_iter().map(|row| row as u32).collect())
            .collect();
        let partition = Partition::from_sizes(groups.concat(), groups.iter().map(Vec::len)).into();
        let release = loaded.publish(&partition, Publish::Bounds, Order::Keep);
        let measures = loaded.measures(&release);
        assert!(measures.violations.is_empty(), "{:?}", measures.violations);
        let rows = common::rows_of_text(&release.bytes);
        for (group, extents) in groups.iter().zip(figure[format!("{kind}_extents")].as_array().unwrap()) {
            let expected: Vec<String> =
                extents.as_array().unwrap().iter().flat_map(numbers).map(|end| end.to_string()).collect();
            for record in group {
                assert_eq!(rows[*record as usize + 1], expected, "{kind}");
            }
        }
    }
}
