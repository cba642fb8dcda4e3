// Package job is what the runner's Job runs: it reads a Plan, reaches the generators and all else that the operator started for the test, has package runner measure, and writes Progress
// and Report into their ConfigMaps.
//
//	Plan, sites ─▶ claim the ConfigMaps ─▶ reach generators, follow the device's node and the collector ─▶ runner.Run ─▶ Report
//	                   │ another runner took over: end                                    │ Progress
//	                   ▼                                                                  ▼
//	                                          configmaps.Sink
package job
