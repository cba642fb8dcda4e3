// Package delivery says how documents travel between the operator and the runner in ConfigMaps, under which keys
// and annotations, and how they are packed, bounded and verified. It is pure, with maps in and documents out.
//
//	in the operator's own namespace
//	  operator ── …-plan: plan.json.gz, sites.json ──▶ runner (mounted as files)
//	  operator ◀─ …-progress: progress.json (at most each 10 s) ── runner
//	  operator ◀─ …-report: report.json.gz (once, immutable when final) ── runner
//	in the test's
//	  operator ── NAME-report: report.json.gz, a copy ──▶ people and programs, who hold it to status.report.digest
package delivery
