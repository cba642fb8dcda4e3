package kubectl

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// requestsPerSecond and requestBurst bound the requests of one verb to the API server.
const (
	requestsPerSecond = 50
	requestBurst      = 100
)

// connection has kubectl's own flags, which choose cluster, user and namespace: --kubeconfig, --context, -n,
// --as and others.
type connection struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
	version   string
	stderr    io.Writer
}

func newConnection(o Options) *connection {
	return &connection{rules: clientcmd.NewDefaultClientConfigLoadingRules(), version: o.Version, stderr: o.Stderr}
}

func (c *connection) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.rules.ExplicitPath, "kubeconfig", "",
		"the kubeconfig file (default $KUBECONFIG, then ~/.kube/config)")
	clientcmd.BindOverrideFlags(&c.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
	flags.Lookup("namespace").Usage = "the namespace (default the context's)"
	flags.Lookup("context").Usage = "the kubeconfig's context (kubectl options lists more flags of this kind: all work)"
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(shownFlags(), f.Name) })
}

// shownFlags are the flags of kubectl that --help lists. All of them would hide a verb's own.
func shownFlags() []string { return []string{"kubeconfig", "context", "namespace", "as"} }

func (c *connection) config() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
}

// namespace is the namespace that the verbs work in. It is explicit where the command line names it.
func (c *connection) namespace() (name string, explicit bool, err error) {
	name, explicit, err = c.config().Namespace()
	if err != nil {
		return "", false, exit.BadInput("kubeconfig: %w", err)
	}
	return name, explicit, nil
}

// rest is the configuration of a client. The API server's warnings go to stderr.
func (c *connection) rest() (*rest.Config, error) {
	config, err := c.config().ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			return nil, exit.BadInput("no cluster is configured: give --kubeconfig FILE, set KUBECONFIG, or write " +
				"~/.kube/config")
		}
		return nil, exit.BadInput("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	config.UserAgent = fmt.Sprintf("kubectl-linerate/%s", c.version)
	config.WarningHandler = rest.NewWarningWriter(c.stderr, rest.WarningWriterOptions{Deduplicate: true})
	return config, nil
}
