// Package kubectl is `kubectl linerate`, the verbs for LoadTests in a cluster. They talk to the API server
// alone, with the rights of the person who types them. The package runs wherever kubectl does.
//
// Each verb has a file. The code that decides is pure (sentences, tables, exit codes, doctor.Diagnose). The
// code that reads a cluster is in cluster, reports, baselines and follower.
package kubectl
