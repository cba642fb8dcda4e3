package main

import (
	"fmt"
	"os"
)

// parting says what to type next, where there is a cluster that stays.
func (l *lab) parting() error {
	if _, err := os.Stat(l.kubeconfig); l.kubeconfig == "" || err != nil {
		return nil
	}
	_, err := fmt.Fprintf(l.talk, `
The cluster stays up. To look around:

  export KUBECONFIG=%s PATH=%s:$PATH
  kubectl -n %s get loadtests -o wide
  kubectl -n %[3]s describe loadtest known-answer
  kubectl -n %[3]s get loadtests --watch

Another test: a LoadTest is never changed, so give it a name of its own:

  sed 's/name: known-answer/name: mine/; s/10000/20000/' examples/cluster/known-answer.yaml | kubectl -n %[3]s create -f -

Again: make demo. Away with it all: make demo-down.
`, l.kubeconfig, l.assets, namespace)
	return err
}
