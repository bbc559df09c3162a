//! scratch
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use std::path::Path;
use std::time::Instant;
use throng::method::Method;
use throng::method::peel::Peel;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::loss;

fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s[s.rfind(')').unwrap() + 2..].split(' ').collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}

fn policy(what: &str, k: usize) -> (String, String) {
    let data = "/work/shared/data";
    let mut text = format!("[data]\nunlisted = \"drop\"\n[privacy]\nk = {k}\n[method]\nseed = 1\n");
    let arx = ["education","marital-status","native-country","occupation","race","salary-class","sex","workclass"];
    let census = ["Gender", "Education", "Marital", "Race", "Work-class", "Country"];
    match what {
        "adult" => {
            text += "[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n";
            for a in arx { text += &format!("[attribute.{a}]\nrole = \"quasi\"\nhierarchy = '{data}/hierarchies/adult-arx/{a}.csv'\n"); }
            (text, format!("{data}/adult.train.complete.csv.zst"))
        }
        "flat" => {
            for a in ["age","education-num"] { text += &format!("[attribute.{a}]\nrole = \"quasi\"\nkind = \"numeric\"\n"); }
            for a in ["workclass", "marital-status", "occupation", "race", "sex", "native-country"] { text += &format!("[attribute.{a}]\nrole = \"quasi\"\n"); }
            (text, format!("{data}/adult.train.complete.csv.zst"))
        }
        "four" => {
            for a in ["age","education-num","capital-gain","hours-per-week"] { text += &format!("[attribute.{a}]\nrole = \"quasi\"\nkind = \"numeric\"\n"); }
            for a in ["workclass", "marital-status", "occupation", "race", "native-country"] { text += &format!("[attribute.{a}]\nrole = \"quasi\"\nhierarchy = '{data}/hierarchies/adult-arx/{a}.csv'\n"); }
            (text, format!("{data}/adult.train.complete.csv.zst"))
        }
        "census" | "censusl" | "censust" => {
            if what == "censusl" { text = text.replace(&format!("k = {k}"), &format!("l = {k}")) + "[attribute.Occupation]\nrole = \"sensitive\"\n"; }
            if what == "censust" { text = text.replace(&format!("k = {k}"), &format!("k = {k}\nt = 0.3")) + "[attribute.Occupation]\nrole = \"sensitive\"\n"; }
            text += "[attribute.Age]\nrole = \"quasi\"\nkind = \"numeric\"\n";
            for a in census { text += &format!("[attribute.{a}]\nrole = \"quasi\"\nhierarchy = '{data}/hierarchies/census9-like/{a}.csv'\n"); }
            (text, format!("{data}/census9-like.csv.zst"))
        }
        other => {
            // a file and its policy body beside it
            let body = std::fs::read_to_string(format!("{other}.toml")).unwrap();
            (body.replace("KKK", &k.to_string()), format!("{other}.csv"))
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (what, k) = (&args[1], args[2].parse::<usize>().unwrap());
    let (text, file) = policy(what, k);
    let policy = Policy::parse(&text, None).unwrap();
    let problem = Problem::new(&run::read(Path::new(&file), &policy, &Unwatched).unwrap(), &policy).unwrap();
    for how in &args[3..] {
        let (start, c) = (Instant::now(), cpu());
        let solution = if let Some(rounds) = how.strip_prefix("r") {
            Peel { search: Some(rounds.parse().unwrap()), ..Peel::default() }.solve(&problem, &Unwatched).unwrap()
        } else if let Some(seconds) = how.strip_prefix("s") {
            Peel { seconds: Some(seconds.parse().unwrap()), ..Peel::default() }.solve(&problem, &Unwatched).unwrap()
        } else {
            let (name, options) = how.split_once(':').unwrap_or((how, ""));
            let text = text.replace("[method]\n", &format!("[method]\nname = \"{name}\"\n{}\n", options.replace(',', "\n")));
            let policy = Policy::parse(&text, None).unwrap();
            run::solve(&problem, &policy, &Unwatched).unwrap()
        };
        let w = solution.suppressed.len() as f64 / problem.len() as f64;
        println!("{what} k {k} {how}: gcp {:.5} ({} suppressed) groups {} cpu {:.2} wall {:.2}", loss(&problem, &solution.partition) + w, solution.suppressed.len(), solution.partition.len(), cpu() - c, start.elapsed().as_secs_f64());
    }
}
