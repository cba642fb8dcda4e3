// Package job is what the runner's Job runs. It reads a Plan, reaches the generators and all else that the
// operator started for the test, has package runner measure, and writes Progress and Report into their
// ConfigMaps.
//
//	Plan, sites ─▶ claim the ConfigMaps ─▶ reach generators, ─▶ runner.Run ─▶ Report
//	                 │                     follow the device's    │ Progress
//	                 │ another runner      node and the collector ▼
//	                 ▼ took over                           configmaps.Sink
//	                end
package job
