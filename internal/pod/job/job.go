package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Options are what the runner is started with.
type Options struct {
	// Plan is the directory with the Plan, the sites and the baseline. Earlier is the directory with the Progress
	// of a lost runner, empty if there was none.
	Plan, Earlier string
	// Namespace is that of the ConfigMaps Progress and Report, which the runner makes if they aren't there.
	Namespace, Progress, Report string
	// Labels are the labels of both ConfigMaps beside the role (KEY=VALUE,…). Owner is the ConfigMap that owns
	// them (NAME/UID).
	Labels, Owner string
	// Kubeconfig is for the API server outside of a pod. Without it, the pod's service account is used.
	Kubeconfig string
	// Patience is how long generators may take to give their first answer.
	Patience time.Duration
	// Grace is how long after SIGTERM the Report may still be written, Insist how long that is tried while the API
	// server doesn't answer.
	Grace, Insist time.Duration
	// Verbose logs every decision.
	Verbose bool
	// Version is linerate's.
	Version string
}

// claimTimeout is how long the runner tries at its start to get its ConfigMaps from the API server.
const claimTimeout = 2 * time.Minute

// Run measures the Plan, and writes its Report. An error carries the exit code.
func Run(ctx context.Context, stdout, stderr io.Writer, o Options) error {
	level := slog.LevelInfo
	if o.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	p, sites, err := delivery.ReadPlan(os.DirFS(o.Plan))
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.Plan, err)
	}
	baseline, err := delivery.ReadBaseline(os.DirFS(o.Plan))
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.Plan, err)
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
	job := runnerJob{plan: p, sites: sites, baseline: baseline, force: mayForce(p), wanted: observe.Want(p.Observers,
		false)}
	return runAndReport(ctx, stdout, o, log, job, sink)
}

// claim takes the ConfigMaps for this runner, so that an earlier runner of the test can't write any more.
func (o Options) claim(
	ctx context.Context, log *slog.Logger, p *plan.Plan, run manifests.OfRun,
) (*configmaps.Sink, error) {
	pod, uid := os.Getenv("POD_NAME"), os.Getenv("POD_UID")
	if pod == "" || uid == "" {
		return nil, errors.New("POD_NAME and POD_UID are not in the environment: a runner without them can't be " +
			"distinguished from its successor")
	}
	config, err := clusterConfig(o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	config.UserAgent = "linerate-runner/" + o.Version
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
	return configmaps.Claim(bounded, configmaps.Options{Client: client.ConfigMaps(o.Namespace),
		Progress: run.Progress(o.Progress), Report: run.Original(o.Report),
		Successor: func(number int) metav1.ObjectMeta { return run.Successor(o.Progress, number) },
		Attempt:   p.Test.Attempt, Earlier: earlier, Pod: pod, UID: uid, Log: log})
}

// readEarlier is the Progress that an earlier runner had written when this runner's pod began. It is nil if
// there is none.
func (o Options) readEarlier() (*delivery.Progress, error) {
	if o.Earlier == "" {
		return nil, nil
	}
	return delivery.ReadProgress(os.DirFS(o.Earlier))
}

// ofRun is the run's labels and owner, from --labels and --owner.
func (o Options) ofRun() (run manifests.OfRun, err error) {
	if run.Labels, err = labels.ConvertSelectorToLabelsMap(o.Labels); err != nil {
		return run, exit.BadInput("--labels %s: %w", o.Labels, err)
	}
	name, uid, ok := strings.Cut(o.Owner, "/")
	if o.Owner != "" && (!ok || name == "" || uid == "") {
		return run, exit.BadInput("--owner %s: it is no ConfigMap's NAME/UID", o.Owner)
	}
	run.Plan, run.PlanUID = name, types.UID(uid)
	return run, nil
}

// clusterConfig is how to reach the API server, by the pod's service account or by the file.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// runAndReport measures, and tries to write the Report until it is stored. A runner writes none if another
// runner has taken its test over.
func runAndReport(ctx context.Context, stdout io.Writer, o Options, log *slog.Logger, job runnerJob,
	sink *configmaps.Sink) error {
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
	finishing, cancel := graceful(ctx, o.Insist, o.graceFor(r))
	defer cancel()
	err = sink.Finish(finishing, r, final)
	switch {
	case errors.Is(err, configmaps.ErrReported):
		log.Info("another run's report is stored already, and is kept", "why", err)
		return nil
	case errors.Is(err, delivery.ErrFenced):
		return exit.NotMeasured("%w; no report is written", err)
	case err != nil:
		_ = report.JSON(stdout, r)
		return exit.NotMeasured("%w; it is on stdout, in this pod's log", err)
	case !final:
		return exit.NotMeasured("the run was interrupted; what it had measured is kept in ConfigMap %s/%s", o.Namespace,
			o.Report)
	}
	log.Info("report written", "configmap", o.Report, "ending", r.Ending, "result", r.Answer.Reason)
	return nil
}

// measureAndPublish runs the job while the sink writes its Progress. It returns an error only where another
// runner has taken over.
func measureAndPublish(ctx context.Context, o Options, log *slog.Logger, job runnerJob,
	sink *configmaps.Sink) (*report.Report, error) {
	running, fence := context.WithCancelCause(ctx)
	defer fence(nil)
	keeping, endKeeping := context.WithCancel(context.WithoutCancel(ctx))
	defer endKeeping()
	var keeper sync.WaitGroup
	var fenced error
	keeper.Go(func() {
		if fenced = sink.Keep(keeping); fenced != nil {
			fence(fenced)
		}
	})
	r := job.measure(running, o, log, func(p runner.Progress) { sink.Post(deliveredProgress(p)) })
	endKeeping()
	keeper.Wait()
	return r, fenced
}

// brokenGrace is how long after SIGTERM a Report may still be written if generators were lost before.
const brokenGrace = 8 * time.Second

// graceFor is how long after SIGTERM a Report may still be written. A runner that has just lost its generators
// was most likely deleted together with them and with its ConfigMaps, so its pod shouldn't stay to write a
// Report.
func (o Options) graceFor(r *report.Report) time.Duration {
	if r.Ending == report.Completed || r.Ending == report.Interrupted {
		return o.Grace
	}
	return min(o.Grace, brokenGrace)
}

// graceful is a context for the work at the end of a run. It ends after longest, and after grace once ctx has ended.
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
