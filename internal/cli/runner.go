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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/delivery/configmaps"
	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/manifests"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// runnerOptions are the flags of runner.
type runnerOptions struct {
	plan, namespace, progress, report string
	labels, owner                     string
	kubeconfig, terminationLog        string
	patience, grace, insist           time.Duration
	verbose                           bool
}

// claimFor is how long the API server may take to let the runner write, at its start.
const claimFor = 2 * time.Minute

func newRunner(s Streams) *cobra.Command {
	var o runnerOptions
	cmd := &cobra.Command{
		Use:     "runner",
		Short:   "Measure a LoadTest's Plan in a cluster, and write Progress and Report to their ConfigMaps",
		Example: "  linerate runner --plan /etc/linerate/plan --namespace linerate-system --progress t-5f2ab0c1-1-progress --report t-5f2ab0c1-1-report",
		Long: "The operator's Job runs this: it reads the Plan, drives the generators over their RPC, and writes what came of it. A runner that was\n" +
			"lost is succeeded by the next one, which begins anew.\n\n" +
			"Exit codes: 0 a final Report stands in its ConfigMap, whatever it says; 2 the command line or the Plan is wrong; 3 anything else:\n" +
			"interrupted (a Report that isn't final was written), another runner has taken over, or the Report could not be written.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, runRunner(cmd.Context(), s, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.plan, "plan", "", "directory with "+delivery.KeyPlan+" and "+delivery.KeySites+", and "+delivery.KeyBaseline+" where there is a baseline")
	f.StringVar(&o.namespace, "namespace", "", "namespace of the ConfigMaps")
	f.StringVar(&o.progress, "progress", "", "ConfigMap for the Progress, which the runner makes if it isn't there")
	f.StringVar(&o.report, "report", "", "ConfigMap for the Report, likewise")
	f.StringVar(&o.labels, "labels", "", "labels of the two, beside the role: KEY=VALUE,…")
	f.StringVar(&o.owner, "owner", "", "ConfigMap that owns the two, so that they go with it: NAME/UID")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "file that tells how to reach the API server, outside of a pod")
	f.DurationVar(&o.patience, "patience", time.Minute, "how long generators may take to answer at first")
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
	first := sink.First()
	job := runnerJob{plan: p, sites: sites, baseline: baseline, force: mayForce(p, first.Attempt, first.Run), wanted: observe.Want(p.Observers, false)}
	return runAndReport(ctx, s, o, log, job, sink)
}

// claim fences earlier runners.
func (o runnerOptions) claim(ctx context.Context, log *slog.Logger, p *plan.Plan, run manifests.OfRun) (*configmaps.Sink, error) {
	pod, uid := os.Getenv("POD_NAME"), os.Getenv("POD_UID")
	if pod == "" || uid == "" {
		return nil, errors.New("POD_NAME and POD_UID are not in the environment: a runner without them can't be told from its successor")
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
	bounded, cancel := context.WithTimeout(ctx, claimFor)
	defer cancel()
	return configmaps.Claim(bounded, configmaps.Options{Client: client.ConfigMaps(o.namespace), Progress: run.Progress(o.progress), Report: run.Original(o.report),
		Attempt: p.Test.Attempt, Pod: pod, UID: uid, Log: log})
}

// ofRun is what --labels and --owner say of the run.
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

// clusterConfig is how to reach the API server: the pod's own way, or the file's.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// runAndReport measures, and doesn't rest before the Report stands. Who was fenced writes none.
func runAndReport(ctx context.Context, s Streams, o runnerOptions, log *slog.Logger, job runnerJob, sink *configmaps.Sink) error {
	first := sink.First()
	log.Info("runner claimed the test", "attempt", first.Attempt, "run", first.Run)
	r, err := measureBeside(ctx, o, log, job, sink)
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
		log.Info("the report of another run stands, and stays", "why", err)
		return nil
	case errors.Is(err, delivery.ErrFenced):
		return exit.NotMeasured("%w; no report is written", err)
	case err != nil:
		_ = report.JSON(s.Out, r)
		return exit.NotMeasured("%w; it is on stdout, in this pod's log", err)
	case !final:
		return exit.NotMeasured("the run was interrupted; what it had measured is kept in ConfigMap %s/%s", o.namespace, o.report)
	}
	log.Info("the report stands", "configmap", o.report, "ending", r.Ending, "result", r.Result.Reason)
	return nil
}

// measureBeside runs the job while the sink writes its Progress. Its error is that another runner has taken over.
func measureBeside(ctx context.Context, o runnerOptions, log *slog.Logger, job runnerJob, sink *configmaps.Sink) (*report.Report, error) {
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

// brokenGrace is the grace of a Report of a run that something broke.
const brokenGrace = 8 * time.Second

// graceFor is how long after SIGTERM a Report may still be written. A runner whose generators went away just before was most likely
// deleted with them, and what it would write to as well: its pod shouldn't stay for that.
func (o runnerOptions) graceFor(r *report.Report) time.Duration {
	if r.Ending == report.Completed || r.Ending == report.Interrupted {
		return o.grace
	}
	return min(o.grace, brokenGrace)
}

// graceful is a context for what must still be done: it lasts so long, and not much longer once ctx has ended.
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
