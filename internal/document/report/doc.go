// Package report has the documents of what was measured, as plain data. They are the Report of a run, and those
// made of several Reports, which are a suite's report, a table, a comparison, a trend, and a gate's judgement. It
// reads and writes them as JSON, and package render writes them for people. The runner writes a Report once. The
// operator, the command line and people read it. A Report is written however the run ended.
package report
