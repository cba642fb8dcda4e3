package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// runnerOptions are the flags of runner.
type runnerOptions struct {
	plan, earlier               string
	namespace, progress, report string
	labels, owner               string
	kubeconfig, terminationLog  string
	patience, grace, insist     time.Duration
	verbose                     bool
}

// claimTimeout is how long the runner tries at its start to get its ConfigMaps from the API server.
const claimTimeout = 2 * time.Minute

func newRunner(s Streams) *cobra.Command {
	var o runnerOptions
	cmd := &cobra.Command{
		Use:     "runner",
		Short:   "Measure a LoadTest's Plan in a cluster, and write Progress and Report to their ConfigMaps",
		Example: "  linerate runner --plan /etc/linerate/plan --namespace linerate-system --progress t-5f2ab0c1-1-progress --report t-5f2ab0c1-1-report",
		Long: "The operator's Job runs this: it reads the Plan, drives the generators over their RPC, and writes what came of it. If a runner\n" +
			"is lost, the next one takes over, and begins anew.\n\n" +
			"Exit codes: 0 a final Report is in its ConfigMap, whatever it says; 2 the command line or the Plan is wrong; 3 anything else:\n" +
			"interrupted (a Report that isn't final was written), another runner has taken over, or the Report could not be written.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, runRunner(cmd.Context(), s, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.plan, "plan", "", "directory with "+delivery.KeyPlan+" and "+delivery.KeySites+", and "+delivery.KeyBaseline+" where there is a baseline")
	f.StringVar(&o.earlier, "earlier", "", "directory with the "+delivery.KeyProgress+" that a lost runner left, where there was one: it says how far the run had come")
	f.StringVar(&o.namespace, "namespace", "", "namespace of the ConfigMaps")
	f.StringVar(&o.progress, "progress", "", "ConfigMap for the Progress, which the runner makes if it isn't there")
	f.StringVar(&o.report, "report", "", "ConfigMap for the Report, likewise")
	f.StringVar(&o.labels, "labels", "", "labels of the two, beside the role: KEY=VALUE,…")
	f.StringVar(&o.owner, "owner", "", "ConfigMap that owns the two, so that they are deleted with it: NAME/UID")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file for the API server, outside of a pod")
	f.DurationVar(&o.patience, "patience", time.Minute, "how long generators may take to give their first answer")
	f.DurationVar(&o.grace, "grace", 25*time.Second, "how long after SIGTERM the Report may still be written")
	f.DurationVar(&o.insist, "insist", 15*time.Minute, "how long to try to write the Report when the API server doesn't answer")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log every decision")
	for _, flag := range []string{"plan", "namespace", "progress", "report"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}

func runRunner(ctx context.Context, s Streams, o runnerOptions) error {
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: level}))
	p, sites, err := delivery.ReadPlan(os.DirFS(o.plan))
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.plan, err)
	}
	baseline, err := delivery.ReadBaseline(os.DirFS(o.plan))
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.plan, err)
	}
	run, err := o.ofRun()
	if err != nil {
		return err
	}
	sink, err := o.claim(ctx, log, p, run)
	if errors.Is(err, configmaps.ErrReported) {
		log.Info("nothing to do", "why", err)
		return nil
	}
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	job := runnerJob{plan: p, sites: sites, baseline: baseline, force: mayForce(p), wanted: observe.Want(p.Observers, false)}
	return runAndReport(ctx, s, o, log, job, sink)
}

// claim takes the ConfigMaps for this runner, so that an earlier runner of the test can't write any more.
func (o runnerOptions) claim(ctx context.Context, log *slog.Logger, p *plan.Plan, run manifests.OfRun) (*configmaps.Sink, error) {
	pod, uid := os.Getenv("POD_NAME"), os.Getenv("POD_UID")
	if pod == "" || uid == "" {
		return nil, errors.New("POD_NAME and POD_UID are not in the environment: a runner without them can't be distinguished from its successor")
	}
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	config.UserAgent = "linerate-runner/" + version
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	earlier, err := o.readEarlier()
	if err != nil {
		log.Warn("how far an earlier run had come can't be read", "error", err)
	}
	bounded, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	return configmaps.Claim(bounded, configmaps.Options{Client: client.ConfigMaps(o.namespace), Progress: run.Progress(o.progress), Report: run.Original(o.report),
		Successor: func(number int) metav1.ObjectMeta { return run.Successor(o.progress, number) },
		Attempt:   p.Test.Attempt, Earlier: earlier, Pod: pod, UID: uid, Log: log})
}

// readEarlier is what an earlier runner had told when this one's pod began; nil: nothing, or nobody says where.
func (o runnerOptions) readEarlier() (*delivery.Progress, error) {
	if o.earlier == "" {
		return nil, nil
	}
	return delivery.ReadProgress(os.DirFS(o.earlier))
}

// ofRun is the run's labels and owner, from --labels and --owner.
func (o runnerOptions) ofRun() (run manifests.OfRun, err error) {
	if run.Labels, err = labels.ConvertSelectorToLabelsMap(o.labels); err != nil {
		return run, exit.BadInput("--labels %s: %w", o.labels, err)
	}
	name, uid, both := strings.Cut(o.owner, "/")
	if o.owner != "" && (!both || name == "" || uid == "") {
		return run, exit.BadInput("--owner %s: it is no ConfigMap's NAME/UID", o.owner)
	}
	run.Plan, run.PlanUID = name, types.UID(uid)
	return run, nil
}

// clusterConfig is how to reach the API server: by the pod's service account, or by the file.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// runAndReport measures, and tries to write the Report until it is stored. A runner whose test another one has taken over writes none.
func runAndReport(ctx context.Context, s Streams, o runnerOptions, log *slog.Logger, job runnerJob, sink *configmaps.Sink) error {
	first := sink.First()
	log.Info("runner claimed the test", "attempt", first.Attempt, "run", first.Run)
	r, err := measureAndPublish(ctx, o, log, job, sink)
	if err != nil {
		return exit.NotMeasured("%w; traffic is stopped, and no report is written", err)
	}
	for _, lost := range first.LostRuns {
		r.Notes = append([]report.Note{{Message: lost + "; this run began anew"}}, r.Notes...)
	}
	final := r.Ending != report.Interrupted
	finishing, cancel := graceful(ctx, o.insist, o.graceFor(r))
	defer cancel()
	err = sink.Finish(finishing, r, final)
	switch {
	case errors.Is(err, configmaps.ErrReported):
		log.Info("another run's report is stored already, and is kept", "why", err)
		return nil
	case errors.Is(err, delivery.ErrFenced):
		return exit.NotMeasured("%w; no report is written", err)
	case err != nil:
		_ = report.JSON(s.Out, r)
		return exit.NotMeasured("%w; it is on stdout, in this pod's log", err)
	case !final:
		return exit.NotMeasured("the run was interrupted; what it had measured is kept in ConfigMap %s/%s", o.namespace, o.report)
	}
	log.Info("report written", "configmap", o.report, "ending", r.Ending, "result", r.Result.Reason)
	return nil
}

// measureAndPublish runs the job while the sink writes its Progress. It returns an error only where another runner has taken over.
func measureAndPublish(ctx context.Context, o runnerOptions, log *slog.Logger, job runnerJob, sink *configmaps.Sink) (*report.Report, error) {
	running, fence := context.WithCancelCause(ctx)
	defer fence(nil)
	keeping, enough := context.WithCancel(context.WithoutCancel(ctx))
	defer enough()
	var keeper sync.WaitGroup
	var fenced error
	keeper.Go(func() {
		if fenced = sink.Keep(keeping); fenced != nil {
			fence(fenced)
		}
	})
	r := job.measure(running, o, log, func(p runner.Progress) { sink.Post(deliveredProgress(p)) })
	enough()
	keeper.Wait()
	return r, fenced
}

// brokenGrace is how long after SIGTERM a Report may still be written if generators were lost before.
const brokenGrace = 8 * time.Second

// graceFor is how long after SIGTERM a Report may still be written. A runner that has just lost its generators was most likely
// deleted together with them and with its ConfigMaps: its pod shouldn't stay to write a Report.
func (o runnerOptions) graceFor(r *report.Report) time.Duration {
	if r.Ending == report.Completed || r.Ending == report.Interrupted {
		return o.grace
	}
	return min(o.grace, brokenGrace)
}

// graceful is a context for what must be done at the end: it ends after longest, and after grace once ctx has ended.
func graceful(ctx context.Context, longest, grace time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-late.Done():
		}
	})
	return late, func() { stop(); cancel() }
}
