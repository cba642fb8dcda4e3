package kubectl

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// completionTimeout bounds what a person waits for after pressing Tab.
const completionTimeout = 3 * time.Second

// completeTests offers the names of the namespace's LoadTests, with what each is doing; those on the line already are left out.
func completeTests(to *connection) cobra.CompletionFunc {
	return func(cmd *cobra.Command, typed []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var tests v1alpha1.LoadTestList
		if !ask(cmd, to, &tests, to.within) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []cobra.Completion
		for i := range tests.Items {
			if test := &tests.Items[i]; !slices.Contains(typed, test.Name) {
				names = append(names, cobra.CompletionWithDesc(test.Name, stateWord(test)))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFormats(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return report.Formats(), cobra.ShellCompDirectiveNoFileComp
}

// completeConnection offers namespaces and contexts.
func completeConnection(cmd *cobra.Command, to *connection) {
	_ = cmd.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var namespaces corev1.NamespaceList
		ask(cmd, to, &namespaces, nil)
		var names []cobra.Completion
		for _, n := range namespaces.Items {
			names = append(names, n.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		config, err := to.config().RawConfig()
		var names []cobra.Completion
		for name := range config.Contexts {
			names = append(names, name)
		}
		slices.Sort(names)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// within limits a list to the namespace that the verbs work in.
func (c *connection) within(at *cluster) client.ListOption { return client.InNamespace(at.namespace) }

// ask lists, soon or not at all.
func ask(cmd *cobra.Command, to *connection, list client.ObjectList, within func(*cluster) client.ListOption) bool {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, end := context.WithTimeout(ctx, completionTimeout)
	defer end()
	c, err := to.connect()
	if err != nil {
		return false
	}
	var opts []client.ListOption
	if within != nil {
		opts = append(opts, within(c))
	}
	return c.client.List(ctx, list, opts...) == nil
}
