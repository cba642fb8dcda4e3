// Package report has the documents of what was measured, as plain data: the Report of a run, and those made of several Reports: a suite's report, a table, a comparison, a trend, a gate's judgement. It
// reads and writes them as JSON; package render writes them for people. The runner writes a Report once; the operator, the command line and people read it. A Report is written however the run ended.
package report
