package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// entry is what is read of a line of the API server's audit log (audit.k8s.io/v1, Event).
type entry struct {
	Stage, Verb, RequestURI string
	User                    struct{ Username string }
	ObjectRef               struct{ Resource, Subresource, Namespace string }
	Received                time.Time `json:"requestReceivedTimestamp"`
	Completed               time.Time `json:"stageTimestamp"`
	ResponseStatus          struct{ Code int }
}

// request is what was asked by whom.
type request struct{ actor, action string }

// asked are the requests of one kind: how long the API server took for each, the shortest first, and how many
// it refused.
type asked struct {
	took    []time.Duration
	refused int
}

// requests are all of them by kind.
type requests map[request]*asked

// The programs whose requests are counted.
const (
	byManager = "manager"
	byRunners = "runners"
	forTests  = "Job and garbage controllers, for LoadTests"
	forJobs   = "Job controller, for Jobs"
)

// readAudit counts the requests of those who are measured, each while it was its turn.
func readAudit(file string, jobs, tests carried) (r requests, err error) {
	log, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	r = requests{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		actor, counted := e.actor()
		turn := tests
		if actor == forJobs {
			turn = jobs
		}
		if counted && e.begins() && !e.Received.Before(turn.firstApplied) && !e.Received.After(turn.quiet) {
			r.add(request{actor, e.action()}, e)
		}
	}
	for _, a := range r {
		slices.Sort(a.took)
	}
	return r, lines.Err()
}

// begins is so once for each request: a watch is counted when it begins.
func (e entry) begins() bool {
	return e.Stage == "ResponseComplete" && e.Verb != "watch" || e.Stage == "ResponseStarted" && e.Verb == "watch"
}

func (e entry) actor() (actor string, counted bool) {
	switch name := e.User.Username; {
	case name == "system:serviceaccount:"+operatorNamespace+":"+operatorAccount:
		return byManager, true
	case name == "system:serviceaccount:"+operatorNamespace+":"+manifests.DefaultRunnerAccount:
		return byRunners, true
	case name == jobController && e.ObjectRef.Namespace == labNamespace:
		return forTests, true
	case name == jobController && e.ObjectRef.Namespace == jobsNamespace:
		return forJobs, true
	}
	return "", false
}

func (e entry) action() string {
	action := e.Verb + " " + e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		action += "/" + e.ObjectRef.Subresource
	}
	if strings.Contains(e.RequestURI, "dryRun=") {
		action += " (dry run)"
	}
	return action
}

func (r requests) add(kind request, e entry) {
	a := r[kind]
	if a == nil {
		a = &asked{}
		r[kind] = a
	}
	a.took = append(a.took, e.Completed.Sub(e.Received))
	if e.ResponseStatus.Code >= 400 {
		a.refused++
	}
}

// countBy is how many requests a program made.
func (r requests) countBy(actor string) (n int) {
	for kind, a := range r {
		if kind.actor == actor {
			n += len(a.took)
		}
	}
	return n
}
