// Package kubectl is `kubectl linerate`: the verbs for LoadTests in a cluster. They talk to the API server as the person who types them, with
// that person's rights, and to nothing else. The package runs wherever kubectl does.
//
// What decides is pure (sentences, tables, exit codes, doctor.Diagnose), what reads is thin (Cluster, follow), and a verb is a file.
package kubectl
