package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Options are the operator's settings. Each is a flag. Without the flag, its environment variable counts, such as
// LINERATE_PULL_POLICY for --pull-policy.
type Options struct {
	// Image is linerate's own image, which the pods of LoadTests run.
	Image string `json:"image"`
	// PullPolicy and PullSecrets are for pulling that image. The secrets are in the LoadTests' namespaces, and in
	// the operator's own.
	PullPolicy  string   `json:"pullPolicy,omitempty"`
	PullSecrets []string `json:"pullSecrets,omitempty"`
	// Namespaces are the namespaces whose LoadTests this operator runs. Empty means all.
	Namespaces []string `json:"namespaces,omitempty"`
	// NetworkNamespaces are the namespaces whose networks all LoadTests may use, besides their own namespace; "*"
	// means all.
	NetworkNamespaces []string `json:"networkNamespaces,omitempty"`
	// AllowedServers are the networks of generators that run already, which tests may use. TrafficPrefixes are the
	// networks that tests may name in spec.traffic.allowedPrefixes.
	AllowedServers  []string `json:"allowedServers,omitempty"`
	TrafficPrefixes []string `json:"trafficPrefixes,omitempty"`
	// Pods has the labels and annotations of every pod of every LoadTest.
	Pods manifests.PodMetadata `json:"pods,omitzero"`
	// NetworkPolicies and DisruptionBudgets are created in each namespace that has LoadTests.
	NetworkPolicies   bool `json:"networkPolicies"`
	DisruptionBudgets bool `json:"disruptionBudgets"`
	// NodesGrow says that an autoscaler adds nodes for pending pods.
	NodesGrow bool `json:"nodesGrow,omitempty"`
	// LeaderElect lets several replicas elect the one that works, by a Lease in LeaderElectionNamespace, which
	// also has the Leases of physical ports and the runners. Empty means the pod's own namespace.
	LeaderElect             bool   `json:"leaderElect"`
	LeaderElectionNamespace string `json:"leaderElectionNamespace,omitempty"`
	// PortLeasesNamespace is the namespace in which all operators of the cluster keep the Leases of physical
	// ports. Empty means the namespace of the leader's Lease, for an operator of all namespaces. For any other operator
	// the namespace is then unknown, and tests get no devices that share ports.
	PortLeasesNamespace string `json:"portLeasesNamespace,omitempty"`
	// RunnerAccount is the runners' ServiceAccount, in the operator's own namespace.
	RunnerAccount string `json:"runnerAccount"`
	// RunnerPriority is the runners' PriorityClass. Empty means the cluster's default.
	RunnerPriority string `json:"runnerPriority,omitempty"`
	// RunnerQueue is the LocalQueue of Kueue, in the operator's own namespace, that runners' Jobs name. It is
	// empty if there is none.
	RunnerQueue string `json:"runnerQueue,omitempty"`
	// MetricsAddress and HealthAddress are the addresses of two servers. "0" means that there is no server.
	MetricsAddress string `json:"metricsAddress"`
	HealthAddress  string `json:"healthAddress"`
	// MetricsSecure serves metrics over HTTPS, to clients whose token has the right to get /metrics. Otherwise
	// everybody reads them over HTTP.
	MetricsSecure bool `json:"metricsSecure"`
	// MetricsCertificates is the folder of that server's tls.crt and tls.key, which are read again when they
	// change. Empty means that the certificate is self-signed.
	MetricsCertificates string `json:"metricsCertificates,omitempty"`
	// ProfileAddress is the address of the server of Go's profiles, which has no authentication. "0" means that
	// there is no server.
	ProfileAddress string `json:"profileAddress"`
	// MetricsTests is how many LoadTests have metrics of their own at most. 0 means that metrics are for all
	// LoadTests together.
	MetricsTests int `json:"metricsTests"`
	// KeepReports bounds the Reports of each namespace that outlive their LoadTests (spec.reportRetention).
	// KeepReportsIn has the namespaces with other bounds.
	KeepReports   retention.Limits            `json:"keepReports"`
	KeepReportsIn map[string]retention.Limits `json:"keepReportsIn,omitempty"`
	// MaxConcurrent is how many LoadTests are reconciled at the same time.
	MaxConcurrent int `json:"maxConcurrent"`
	// LogLevel is debug, info, warn or error.
	LogLevel slog.Level `json:"logLevel"`

	version bool
}

// maxMetricsTests bounds what Prometheus has to store. Each LoadTest has up to seven series.
const maxMetricsTests = 10_000

const usage = `The operator of linerate: it runs LoadTests in a cluster, from creation to result.

  manager --image ghcr.io/linerate-dev/linerate:v0.1.0

Each flag may be given as an environment variable: --pull-policy as LINERATE_PULL_POLICY.

`

// parse reads flags, and environment variables for flags that aren't given.
func parse(args []string, env func(string) (string, bool), stderr io.Writer) (Options, error) {
	var o Options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage) //nolint:errcheck // there is no other place to report it
		flags.PrintDefaults()
	}
	o.define(flags)
	if err := fromEnvironment(flags, env); err != nil {
		return o, err
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: give flags only, no other arguments", flags.Arg(0))
	}
	if o.version {
		return o, nil
	}
	return o, o.check()
}

func (o *Options) define(flags *flag.FlagSet) {
	flags.StringVar(&o.Image, "image", "", "linerate's own `image`, which the pods of LoadTests run; needed")
	flags.StringVar(&o.PullPolicy, "pull-policy", "",
		"how that image is pulled: Always, IfNotPresent or Never (default Kubernetes' own)")
	flags.Var((*list)(&o.PullSecrets), "pull-secrets", "`names` of the secrets to pull it with, separated by commas")
	flags.Var((*list)(&o.Namespaces), "namespaces",
		"the `namespaces` whose LoadTests this operator runs, separated by commas (default all)")
	o.NetworkNamespaces = []string{"default"} // as Multus does where it isolates namespaces
	flags.Var((*list)(&o.NetworkNamespaces), "network-namespaces",
		"the `namespaces` whose networks all LoadTests may use besides their own, separated by commas; *: all")
	flags.Var((*list)(&o.AllowedServers), "allowed-servers",
		"the `networks` where generators that run already may be, separated by commas, with a port unless it is "+
			"4501: 192.0.2.0/28,192.0.2.7:4511 (default none)")
	o.TrafficPrefixes = strings.Split(compile.DefaultPrefixes, ",")
	flags.Var((*list)(&o.TrafficPrefixes), "traffic-prefixes",
		"the `networks` that tests may name in spec.traffic.allowedPrefixes, or parts of them, separated by commas, "+
			"besides those made for measuring")
	flags.Var((*jsonMap)(&o.Pods.Labels), "pod-labels",
		"`labels` of every pod of every LoadTest, as a JSON object: {\"cost-centre\":\"4711\"}")
	flags.Var((*jsonMap)(&o.Pods.Annotations), "pod-annotations",
		"`annotations` of every pod of every LoadTest, as a JSON object: {\"sidecar.istio.io/inject\":\"false\"}")
	flags.BoolVar(&o.NetworkPolicies, "network-policies", true,
		"create NetworkPolicies in each namespace that has LoadTests, so that only runners can reach generators")
	flags.BoolVar(&o.DisruptionBudgets, "disruption-budgets", true,
		"create a PodDisruptionBudget in each namespace that has LoadTests, so that drains wait for running tests")
	flags.BoolVar(&o.NodesGrow, "nodes-grow", false,
		"an autoscaler adds nodes for pending pods: create pods even if no node has what they need, so that the "+
			"autoscaler sees them")
	flags.BoolVar(&o.LeaderElect, "leader-elect", true, "let several replicas elect the one that works")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"the `namespace` of that election's Lease, of the Leases of physical ports, and of runners (default the "+
			"pod's own)")
	flags.StringVar(&o.PortLeasesNamespace, "port-leases-namespace", "",
		"the `namespace` in which all operators of the cluster keep the Leases of physical ports (default, for an "+
			"operator of all namespaces, the same)")
	flags.StringVar(&o.RunnerAccount, "runner-account", manifests.DefaultRunnerAccount,
		"the `name` of the runners' ServiceAccount, in that namespace")
	flags.StringVar(&o.RunnerPriority, "runner-priority", "",
		"the `name` of the runners' PriorityClass (default the cluster's own)")
	flags.StringVar(&o.RunnerQueue, "runner-queue", "",
		"the `name` of a LocalQueue of Kueue, in that namespace, for runners' Jobs: needed where Kueue holds back "+
			"Jobs without a queue")
	flags.StringVar(&o.MetricsAddress, "metrics-address", ":8443",
		"the `address` that metrics are served on; 0: nowhere")
	flags.BoolVar(&o.MetricsSecure, "metrics-secure", true,
		"serve metrics over HTTPS, to clients whose token has the right to get /metrics; false: over HTTP, to "+
			"everybody")
	flags.StringVar(&o.MetricsCertificates, "metrics-certificates", "",
		"the `folder` with tls.crt and tls.key for that (default: a self-signed certificate that is made at the start)")
	flags.IntVar(&o.MetricsTests, "metrics-tests", 500,
		"for how `many` LoadTests at most there are metrics of their own; 0: only for all together")
	flags.StringVar(&o.HealthAddress, "health-address", ":8081",
		"the `address` that /healthz and /readyz are served on; 0: nowhere")
	flags.StringVar(&o.ProfileAddress, "profile-address", "0",
		"the `address` that Go's profiles of the manager are served on, without authentication; 0: nowhere")
	o.KeepReports = retention.Limits{Count: 200, Age: 8760 * time.Hour}
	flags.TextVar(&o.KeepReports, "keep-reports", o.KeepReports,
		"how many Reports that outlive their LoadTests a namespace keeps, and for how long, as `count/age`; 0 bounds "+
			"nothing")
	flags.Var((*ownLimits)(&o.KeepReportsIn), "keep-reports-in",
		"the same for single namespaces, as `namespace=count/age`, separated by commas")
	flags.IntVar(&o.MaxConcurrent, "max-concurrent", 16, "how `many` LoadTests are reconciled at the same time")
	flags.TextVar(&o.LogLevel, "log-level", slog.LevelInfo, "debug, info, warn or error")
	flags.BoolVar(&o.version, "version", false, "print the version")
}

// fromEnvironment sets each flag whose environment variable is set. The command line is read afterwards, and wins.
func fromEnvironment(flags *flag.FlagSet, env func(string) (string, bool)) (err error) {
	flags.VisitAll(func(f *flag.Flag) {
		name := "LINERATE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, set := env(name); set && value != "" && f.Name != "version" {
			if wrong := f.Value.Set(value); wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s=%q: %w", name, value, wrong))
			}
		}
	})
	return err
}

// check returns all faults of the options in one error.
func (o *Options) check() error {
	var errs []error
	if o.Image == "" {
		errs = append(errs, errors.New("--image is needed: the image that this manager comes from, such as "+
			"ghcr.io/linerate-dev/linerate:v0.1.0"))
	}
	policies := []string{"", string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}
	if !slices.Contains(policies, o.PullPolicy) {
		errs = append(errs, fmt.Errorf("--pull-policy %q: write Always, IfNotPresent or Never", o.PullPolicy))
	}
	if err := o.Pods.Check(); err != nil {
		errs = append(errs, fmt.Errorf("--pod-labels, --pod-annotations: %w", err))
	}
	errs = append(errs, o.checkNamespaces()...)
	if _, err := o.bounds(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs,
		checkName("--runner-account", o.RunnerAccount, "a ServiceAccount"),
		checkName("--runner-priority", cmp.Or(o.RunnerPriority, "none"), "a PriorityClass"),
		checkName("--runner-queue", cmp.Or(o.RunnerQueue, "none"), "a LocalQueue"),
		checkAddress("--metrics-address", o.MetricsAddress),
		checkAddress("--health-address", o.HealthAddress),
		checkAddress("--profile-address", o.ProfileAddress))
	if o.MetricsCertificates != "" && !o.MetricsSecure {
		errs = append(errs, fmt.Errorf("--metrics-certificates %q: metrics are served without a certificate "+
			"(--metrics-secure=false); leave one of the two out", o.MetricsCertificates))
	}
	if o.MetricsTests < 0 || o.MetricsTests > maxMetricsTests {
		errs = append(errs, fmt.Errorf("--metrics-tests %d: write a number from 0 to %d", o.MetricsTests,
			maxMetricsTests))
	}
	if o.MaxConcurrent < 1 || o.MaxConcurrent > 64 {
		errs = append(errs, fmt.Errorf("--max-concurrent %d: write a number from 1 to 64", o.MaxConcurrent))
	}
	return errors.Join(errs...)
}

// checkNamespaces refuses names that can't be a namespace's.
func (o *Options) checkNamespaces() (errs []error) {
	check := func(flag, name string) {
		if faults := validation.IsDNS1123Label(name); len(faults) > 0 {
			errs = append(errs, fmt.Errorf("%s: %q can't be a namespace: %s", flag, name, strings.Join(faults, "; ")))
		}
	}
	for _, name := range o.Namespaces {
		check("--namespaces", name)
	}
	if o.PortLeasesNamespace != "" {
		check("--port-leases-namespace", o.PortLeasesNamespace)
	}
	for name := range o.KeepReportsIn {
		check("--keep-reports-in", name)
	}
	for _, name := range o.NetworkNamespaces {
		if name != "*" {
			check("--network-namespaces", name)
		}
	}
	return errs
}

// bounds are the servers and networks that tests may name.
func (o *Options) bounds() (b compile.Bounds, err error) {
	if b.Servers, err = compile.ParseServerRanges(o.AllowedServers); err != nil {
		return b, fmt.Errorf("--allowed-servers: %w", err)
	}
	for _, text := range o.TrafficPrefixes {
		p, err := netip.ParsePrefix(text)
		if err != nil || p != p.Masked() {
			return b, fmt.Errorf("--traffic-prefixes: %q is no network, such as 10.1.0.0/16", text)
		}
		b.Prefixes = append(b.Prefixes, p)
	}
	return b, nil
}

func checkName(flag, name, kind string) error {
	if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
		return fmt.Errorf("%s: %q can't be %s: %s", flag, name, kind, strings.Join(faults, "; "))
	}
	return nil
}

func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil && address != "0" {
		return fmt.Errorf("%s %q: write an address such as :8080, or 0 for none", flag, address)
	}
	return nil
}

// ownLimits is the value of a flag that gives single namespaces limits of their own. The last flag counts.
type ownLimits map[string]retention.Limits

func (l *ownLimits) String() string { return retention.NamespacesText(*l) }

func (l *ownLimits) Set(text string) (err error) {
	*l, err = retention.ParseNamespaces(text)
	return err
}

// jsonMap is the value of a flag that is a JSON object of strings. The last flag counts.
type jsonMap map[string]string

func (m *jsonMap) String() string {
	if len(*m) == 0 {
		return ""
	}
	text, _ := json.Marshal(*m) // a map of strings always can be
	return string(text)
}

func (m *jsonMap) Set(text string) error {
	*m = nil
	if err := intake.JSON([]byte(text), m, intake.Small); err != nil {
		return fmt.Errorf(`write a JSON object of strings, such as {"team":"datapath"}: %w`, err)
	}
	return nil
}

// list is the value of a flag that has names separated by commas. The last flag counts.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*l = append(*l, name)
		}
	}
	return nil
}
