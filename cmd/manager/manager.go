package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/keptreports"
	"github.com/linerate-dev/linerate/controllers/loadtest"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

const (
	// leaseName is the Lease by which replicas elect the one that works.
	leaseName = "linerate-manager"
	// reporter is the reporting controller of events.
	reporter = "linerate.dev/manager"
	// endTimeout is how long running reconciles may take to finish when the manager is asked to end. It is shorter
	// than the pod's grace period.
	endTimeout = 20 * time.Second
	// syncTimeout bounds one check of whether the caches are filled.
	syncTimeout = time.Second
)

// version is set by the linker.
var version = "dev" // the linker's -X needs a variable

func versionLine() string {
	return fmt.Sprintf("linerate manager %s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// newManager wires the operator. It starts nothing.
func newManager(ctx context.Context, config *rest.Config, options Options) (ctrl.Manager, error) {
	scheme, err := caches.NewScheme()
	if err != nil {
		return nil, err
	}
	served, err := metricsOptions(options)
	if err != nil {
		return nil, err
	}
	clock := &pass.Clock{}
	config = rest.CopyConfig(config)
	config.Wrap(clock.Wrap)
	config.Wrap(pass.NewShares().Wrap)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         caches.Options(options.Namespaces, ownNamespace(options)),
		Metrics:                       served,
		HealthProbeBindAddress:        options.HealthAddress,
		PprofBindAddress:              options.ProfileAddress,
		LeaderElection:                options.LeaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true, // the process ends when Start returns
		GracefulShutdownTimeout:       new(endTimeout),
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	key, err := ownKey(ctx, direct, ownNamespace(options))
	if err != nil {
		return nil, err
	}
	bounds, err := options.bounds()
	if err != nil {
		return nil, err
	}
	reports, decoded := loadtestsuite.NewRecentReports(), caches.NewDecoded()
	tests := loadtest.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder(reporter), loadtest.Options{
		Settings:                settings(options, key),
		Namespace:               ownNamespace(options),
		PortLeases:              options.PortLeasesNamespace,
		PortsUnguarded:          options.PortLeasesNamespace == "" && len(options.Namespaces) > 0,
		Namespaces:              options.Namespaces,
		NetworkNamespaces:       options.NetworkNamespaces,
		Bounds:                  bounds,
		NodesGrow:               options.NodesGrow,
		NetworkPolicies:         options.NetworkPolicies,
		DisruptionBudgets:       options.DisruptionBudgets,
		MaxConcurrentReconciles: options.MaxConcurrent,
		Clock:                   clock.Now,
		Metrics:                 metrics.Registry,
		MetricsTests:            options.MetricsTests,
		Decoded:                 decoded,
		Reports:                 reports,
	})
	if err := tests.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the LoadTest controller: %w", err)
	}
	suites, err := loadtestsuite.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder(reporter), loadtestsuite.Options{
		Namespace: ownNamespace(options), Namespaces: options.Namespaces, Version: version, Bounds: bounds,
		Metrics: metrics.Registry, Decoded: decoded, Reports: reports,
	})
	if err != nil {
		return nil, fmt.Errorf("make the LoadTestSuite controller: %w", err)
	}
	if err := suites.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the LoadTestSuite controller: %w", err)
	}
	policy := retention.Policy{Default: options.KeepReports, Namespaces: options.KeepReportsIn}
	keeper := keptreports.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder(reporter), policy, nil)
	if err := keeper.SetupWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the controller of kept Reports: %w", err)
	}
	return mgr, errors.Join(mgr.AddHealthzCheck("alive", healthz.Ping), mgr.AddReadyzCheck("caches", cachesFilled(mgr)))
}

// inPod is the file that names a pod's namespace.
const inPod = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ownNamespace is the namespace of the operator's Leases and runners. A flag names it, or the pod's file does.
// Otherwise it is default.
func ownNamespace(options Options) string {
	if options.LeaderElectionNamespace != "" {
		return options.LeaderElectionNamespace
	}
	if name, err := os.ReadFile(inPod); err == nil {
		return strings.TrimSpace(string(name))
	}
	return "default"
}

func settings(options Options, key credential.Key) manifests.Settings {
	s := manifests.Settings{
		Key: key, Image: options.Image, PullPolicy: corev1.PullPolicy(options.PullPolicy),
		Namespace:     ownNamespace(options),
		RunnerAccount: options.RunnerAccount, RunnerPriority: options.RunnerPriority, RunnerQueue: options.RunnerQueue,
		Pods: options.Pods,
	}
	for _, name := range options.PullSecrets {
		s.PullSecrets = append(s.PullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return s
}

// cachesFilled is a readiness check. It passes when all watched objects were listed.
func cachesFilled(mgr ctrl.Manager) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), syncTimeout)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches aren't filled yet")
		}
		return nil
	}
}
