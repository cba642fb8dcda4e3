// Package delivery is how documents travel between the operator and the runner in ConfigMaps: which keys and annotations, how they are
// packed, bounded and recognised. It is pure: maps in, documents out.
//
//	operator ── NAME-ATTEMPT-plan: plan.json.gz, sites.json ──▶ runner (mounted as files)
//	operator ◀─ NAME-progress: progress.json (at most each 10 s) ── runner
//	operator ◀─ NAME-report: report.json.gz (once, immutable when final) ── runner
package delivery
