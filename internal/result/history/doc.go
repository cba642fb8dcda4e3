// Package history sets Reports side by side and in the order of time. It finds out which of them are runs of the
// same test, and their medians and differences. It is pure. internal/document/report has the documents that it
// makes, and writes them.
//
//	Reports ─┬─ grouped by product and loadtest ─┬─ a table
//	         │                                   ├─ side against side ─▶ a comparison
//	         │                                   └─ in order of time ──▶ a trend
//	         └─ only Plans of one method are compared, else the differences are named
package history
