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

// requestsPerSecond and requestBurst bound what one verb asks of the API server.
const (
	requestsPerSecond = 50
	requestBurst      = 100
)

// connection is kubectl's own flags for which cluster, user and namespace are meant: --kubeconfig, --context, -n, --as and so on.
type connection struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
	version   string
	talk      io.Writer
}

func newConnection(o Options) *connection {
	return &connection{rules: clientcmd.NewDefaultClientConfigLoadingRules(), version: o.Version, talk: o.Err}
}

func (c *connection) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.rules.ExplicitPath, "kubeconfig", "", "the kubeconfig file (default $KUBECONFIG, then ~/.kube/config)")
	clientcmd.BindOverrideFlags(&c.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
	flags.Lookup("namespace").Usage = "the namespace (default the context's)"
	flags.Lookup("context").Usage = "the kubeconfig's context (kubectl options lists more flags of this kind: all work)"
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(shownFlags(), f.Name) })
}

// shownFlags are those of kubectl's own flags that --help lists: with all of them, a verb's own were hard to find.
func shownFlags() []string { return []string{"kubeconfig", "context", "namespace", "as"} }

func (c *connection) config() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
}

// namespace is the one that the verbs work in; given says that the command line names it.
func (c *connection) namespace() (name string, given bool, err error) {
	name, given, err = c.config().Namespace()
	if err != nil {
		return "", false, exit.BadInput("kubeconfig: %w", err)
	}
	return name, given, nil
}

// rest is how to reach the API server. Its warnings are talk.
func (c *connection) rest() (*rest.Config, error) {
	config, err := c.config().ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			return nil, exit.BadInput("no cluster is configured: give --kubeconfig FILE, set KUBECONFIG, or write ~/.kube/config")
		}
		return nil, exit.BadInput("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	config.UserAgent = fmt.Sprintf("kubectl-linerate/%s", c.version)
	config.WarningHandler = rest.NewWarningWriter(c.talk, rest.WarningWriterOptions{Deduplicate: true})
	return config, nil
}
