package lifecycle

// situation is an observation, divided by the questions that rules ask of it. Each part has the facts that its
// questions need, and the parts whose answers it builds on. Rules read the parts, and change nothing in them.
//
//	attempt, history, blueprint, kueue, deadlines   pods, what was decided last, what is wanted, until when
//	preflight, queueing, setup, placement, startup  from nothing to pods that are ready
//	ports, portClaims, launch, runner, loss         the run
//	completion, teardown                            from the run to Complete
//	remnants, status                                what earlier attempts left, what is written
type situation struct {
	attempt    *attempt
	history    *history
	blueprint  *blueprint
	kueue      *kueue
	deadlines  *deadlines
	preflight  *preflight
	queueing   *queueing
	setup      *setup
	placement  *placement
	startup    *startup
	ports      *ports
	portClaims *portClaims
	launch     *launch
	runner     *runner
	loss       *loss
	completion *completion
	teardown   *teardown
	remnants   *remnants
	status     *statusWriter
}

// newSituation divides an observation.
func newSituation(o Observed) *situation {
	test, status, observedAt := o.Test, &o.Test.Status, o.ObservedAt
	attempt, remnants := divideAttempts(o)
	history := &history{status.Conditions, observedAt}
	nodes := &nodes{o.Inventory.Nodes, status.Operator.ExcludedNodes}
	blueprint := &blueprint{
		test: test, compiled: o.Compiled, networks: o.Inventory.Networks, attempt: attempt.number,
		excluded: status.Operator.ExcludedNodes, settings: o.Settings,
	}
	report := &arrival{
		test: test, attempt: attempt, recorded: status.Report, order: o.Children.Order, followed: o.Children.Followed,
		envelope: o.Children.Envelope, document: o.Children.Report, packed: o.Children.ReportPacked,
		readFault: o.Children.ReportFault, written: o.Children.ReportWritten, observedAt: observedAt,
	}
	kueue := &kueue{test: test, attempt: attempt, report: report, recordedAdmission: status.Operator.AdmissionTime,
		observedAt: observedAt}
	observers := &observers{
		test: test, attempt: attempt, blueprint: blueprint, foreign: o.Children.Foreign, refusals: o.Refusals,
		observedAt: observedAt,
	}
	deadlines := &deadlines{
		spec: &test.Spec, attempt: attempt, blueprint: blueprint, history: history, kueue: kueue, observers: observers,
		givenBack: status.Operator.GivenBack, nodeAwaited: status.Operator.NodeAwaitedTime, observedAt: observedAt,
	}
	remnants.test, remnants.history, remnants.deadlines, remnants.observedAt = test, history, deadlines, observedAt
	setup := &setup{spec: &test.Spec, attempt: attempt, observedAt: observedAt}
	placement := &placement{
		test: test, attempt: attempt, history: history, blueprint: blueprint, deadlines: deadlines, setup: setup,
		existing: o.Children.Present, documents: o.Children.Documents, refusals: o.Refusals, observedAt: observedAt,
	}
	queueing := &queueing{
		test: test, attempt: attempt, history: history, kueue: kueue, deadlines: deadlines, placement: placement,
		turn: o.Turn, grows: o.Inventory.Grows, givenBack: status.Operator.GivenBack, refusals: o.Refusals,
		nodes: nodes, observedAt: observedAt,
	}
	startup := &startup{
		test: test, attempt: attempt, blueprint: blueprint, deadlines: deadlines, placement: placement,
		queueing: queueing, setup: setup, observers: observers, observedAt: observedAt,
	}
	ports := &ports{
		test: test, attempt: attempt, history: history, blueprint: blueprint, deadlines: deadlines,
		claims: o.Ports.Claims, older: o.Ports.Older, awaited: status.Operator.AwaitedPorts, observedAt: observedAt,
	}
	faults := &podFaults{attempt: attempt, nodes: nodes, history: history}
	runner := &runner{attempt: attempt, deadlines: deadlines, namespace: o.Settings.Namespace, observedAt: observedAt}
	loss := &loss{
		attempt: attempt, history: history, deadlines: deadlines, faults: faults, report: report, runner: runner,
		lastProgress: status.Progress, observedAt: observedAt,
	}
	cleanup := &cleanup{
		test: test, report: report, pods: o.Children.Pods, jobs: o.Children.Jobs, plans: o.Children.Plans,
		existing: o.Children.Present, observedAt: observedAt,
	}
	teardown := &teardown{
		test: test, attempt: attempt, blueprint: blueprint, cleanup: cleanup, refusals: o.Refusals,
		observedAt: observedAt,
	}
	copies := &copies{
		test: test, report: report, history: history, existing: o.Children.Present, foreign: o.Children.Foreign,
		published: o.Children.Published, refusals: o.Refusals, observedAt: observedAt,
	}
	conditions := &conditionWriter{
		test: test, attempt: attempt, history: history, faults: faults, lostRuns: status.Operator.LostRuns,
		lastProgress: status.Progress,
		observedAt:   observedAt,
	}
	return &situation{
		attempt: attempt, history: history, blueprint: blueprint, kueue: kueue, deadlines: deadlines,
		queueing: queueing, setup: setup, placement: placement, startup: startup,
		ports: ports, runner: runner, loss: loss, teardown: teardown, remnants: remnants,
		preflight: &preflight{
			test: test, attempt: attempt, blueprint: blueprint, nodes: nodes, deadlines: deadlines,
			observers: observers,
			cleanup:   cleanup, hasMultus: o.Inventory.Multus, networkFaults: o.Inventory.Faults,
			grows: o.Inventory.Grows,
		},
		portClaims: &portClaims{
			test: test, attempt: attempt, remnants: remnants, ports: ports, pods: o.Children.Pods,
			completionTime: status.CompletionTime, observedAt: observedAt,
		},
		launch: &launch{
			test: test, attempt: attempt, blueprint: blueprint, deadlines: deadlines, placement: placement,
			observers: observers, ports: ports, baseline: o.Baseline, refusals: o.Refusals,
		},
		completion: &completion{
			test: test, attempt: attempt, history: history, deadlines: deadlines, loss: loss, runner: runner,
			report: report, copies: copies, teardown: teardown, cleanup: cleanup, recorded: status.Report,
			result: status.Result, completionTime: status.CompletionTime, refusals: o.Refusals, observedAt: observedAt,
		},
		status: &statusWriter{
			test: test, attempt: attempt, kueue: kueue, deadlines: deadlines, ports: ports, queueing: queueing,
			report: report, cleanup: cleanup, conditions: conditions, lastProgress: status.Progress,
			observedAt: observedAt,
		},
	}
}
