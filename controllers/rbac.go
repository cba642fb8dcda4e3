package controllers

// The manager has exactly the rights on these lines. config/rbac/role.yaml is made from them, and the chart's
// roles from that file. There is no wildcard, no right to secrets, and no right to grant rights. Runners have
// one account, whose rights come from the administrator who installs the manager. The manager's rights in its
// own namespace, where runners are, are in config/rbac/runs_role.yaml and leader_election_role.yaml.
//
// The manager reads LoadTests, deletes them at the end of their TTL, and writes their status. It makes those of suites,
// and stops them with their suite. Of a spec, only the time and the duration can be changed. privileged is no verb of
// the API server. The admission policy holds a suite's author to the author's own rights when the suite is made, and
// must not hold the manager, who makes its LoadTests, to the manager's.
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtests,verbs=get;list;watch;create;patch;delete;privileged
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtests/status,verbs=patch
//
// The manager reads LoadTestSuites, deletes them at the end of their TTL, and writes their status.
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtestsuites,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=linerate.dev,resources=loadtestsuites/status,verbs=patch
//
// A test consists of pods. The manager never updates what it made.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;delete
//
// ConfigMaps are the input of pods, copies of Reports, and kept Reports. Suites' reports and the copies of
// their runs are updated.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;delete
//
// Preflight reads nodes' devices, CPUs and hugepages, networks, and whether there is Multus at all.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=k8s.cni.cncf.io,resources=network-attachment-definitions,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=network-attachment-definitions.k8s.cni.cncf.io,verbs=get;list;watch
//
// Each namespace of tests gets policies, which admit runners to generators and keep drains from evicting pods.
// A test of a TRex gets one that admits its own runner alone. The manager makes them once, and never reads
// them.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create
//
// Events inform users.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
