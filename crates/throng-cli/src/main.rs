//! The `throng` command.

fn main() -> std::process::ExitCode {
    throng_cli::run()
}
