//! throng turns a table about people into one that can be published.
