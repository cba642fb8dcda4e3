package main

import "fmt"

// parting says what to type next; name is that of a LoadTest in it.
func (l *demoCluster) parting(name string) error {
	_, err := fmt.Fprintf(l.stderr, `
The cluster stays up. To look around:

  export KUBECONFIG=%[1]s PATH=%[5]s:%[2]s:$PATH
  kubectl -n %[3]s get loadtests -o wide
  kubectl -n %[3]s describe loadtest %[4]s
  kubectl linerate watch %[4]s -n %[3]s
  kubectl linerate doctor -n %[3]s

More to measure. A LoadTest's spec is never changed, so each run is a LoadTest with a name of its own:

  kubectl -n %[3]s create -f examples/cluster/linux-forwarder.yaml    # Linux without a limit
  sed 's/name: known-answer/name: mine/; s/10000/20000/' examples/cluster/known-answer.yaml |
    kubectl -n %[3]s create -f -

Four systems under two loads, as one table, in about five minutes:

  kubectl linerate run examples/suites/four-systems.yaml -n %[3]s
  kubectl linerate report four-systems -n %[3]s -o html > four-systems.html

Again: make demo. Away with it all: make demo-down.
`, l.kubeconfig, l.assets, namespace, name, l.programs)
	return err
}
