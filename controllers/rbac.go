package controllers

// What the manager may do, and nothing else: config/rbac/role.yaml is made from these lines, and the chart's
// roles from that file. There is no wildcard, no secrets, no right to grant any: runners have one account,
// which whoever installs the manager gives its rights. What the manager may do in its own namespace besides,
// where runners are, is in config/rbac/runs_role.yaml and leader_election_role.yaml.
//
// LoadTests, to read them, to end them at their TTL, and to write their status; to make those of suites, and to
// stop them with their suite: of a spec, nothing but when and how long can be changed. privileged is no verb of
// the API server's: the admission policy holds a suite's author to the author's own rights when the suite is
// made, and must not hold the manager, who makes its LoadTests, to the manager's.
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtests,verbs=get;list;watch;create;patch;delete;privileged
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtests/status,verbs=patch
//
// LoadTestSuites, to read them, to end them at their TTL, and to write their status.
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtestsuites,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtestsuites/status,verbs=patch
//
// What a test consists of. Nothing made is ever updated.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
//
// What pods are told, copies of Reports, and Reports that are kept; update for suites' reports and the copies
// of their runs.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;delete
//
// What preflight looks at: nodes' devices, CPUs and hugepages, networks, and whether there is Multus at all.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=k8s.cni.cncf.io,resources=network-attachment-definitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=network-attachment-definitions.k8s.cni.cncf.io,verbs=get;list;watch
//
// What stands in each namespace of tests for all of them: who may reach their generators, and that drains wait
// for them; and for a test of a TRex, that its own runner alone reaches it. It is made once, and never looked
// at again.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create
//
// What is told to people.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
