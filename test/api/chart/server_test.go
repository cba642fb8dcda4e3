package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// refusal is what kubectl ends with.
type refusal struct{ message string }

func (r refusal) Error() string { return r.message }

// tryKubectl runs kubectl itself, as a library. "-" among its arguments is a file that holds in, since kubectl reads the program's own input. It is not
// for tests that run beside others: how it ends is a setting of the whole program.
func tryKubectl(t *testing.T, in string, args ...string) (out string, err error) {
	t.Helper()
	if i := slices.Index(args, "-"); i >= 0 {
		file := filepath.Join(t.TempDir(), "in.yaml")
		must(t, os.WriteFile(file, []byte(in), 0o600))
		args[i] = file
	}
	var stdout, stderr bytes.Buffer
	command := cmd.NewKubectlCommand(cmd.KubectlOptions{
		ConfigFlags: genericclioptions.NewConfigFlags(true),
		IOStreams:   genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr},
	})
	command.SetArgs(append([]string{"--kubeconfig", kubeconfig}, args...))
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	command.SilenceUsage, command.SilenceErrors = true, true
	cmdutil.BehaviorOnFatal(func(message string, _ int) { panic(refusal{message}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		if r, ok := recover().(refusal); ok {
			err = fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), r, stderr.String())
		}
	}()
	err = command.ExecuteContext(t.Context())
	return stdout.String(), err
}

func kubectl(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, err := tryKubectl(t, in, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// there says whether an object is.
func there(t *testing.T, kind, namespace, name string) bool {
	t.Helper()
	return kubectl(t, "", "get", kind, name, "-n", namespace, "--ignore-not-found", "-o", "name") != ""
}

func makeNamespace(t *testing.T, name string) {
	t.Helper()
	if !there(t, "namespace", "", name) {
		kubectl(t, "", "create", "namespace", name)
	}
}

// helmIn is Helm against the real server, its releases kept in a namespace.
func helmIn(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &namespace
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil)))
	if err := configuration.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return configuration
}

func install(t *testing.T, namespace, text string) error {
	t.Helper()
	a := action.NewInstall(helmIn(t, namespace))
	a.ReleaseName, a.Namespace, a.ServerSideApply = releaseName, namespace, true
	a.WaitStrategy, a.Timeout = kube.HookOnlyStrategy, 5*time.Minute
	_, err := a.RunWithContext(t.Context(), loadChart(t), values(t, text))
	return err
}

func upgrade(t *testing.T, namespace, text string) error {
	t.Helper()
	a := action.NewUpgrade(helmIn(t, namespace))
	a.Namespace, a.ServerSideApply = namespace, "auto"
	a.WaitStrategy, a.Timeout = kube.HookOnlyStrategy, 5*time.Minute
	_, err := a.RunWithContext(t.Context(), releaseName, loadChart(t), values(t, text))
	return err
}

func uninstall(t *testing.T, namespace string) error {
	t.Helper()
	a := action.NewUninstall(helmIn(t, namespace))
	a.WaitStrategy, a.Timeout = kube.HookOnlyStrategy, 5*time.Minute
	_, err := a.Run(releaseName)
	return err
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
