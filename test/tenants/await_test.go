package tenants

import (
	"context"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// await waits for what the API server learns by a watch.
func (l *lab) await(what string, holds func() bool) {
	l.t.Helper()
	err := wait.PollUntilContextTimeout(l.t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
}

// allowUse gives somebody the verb use on ServiceAccounts.
func (l *lab) allowUse(who string, accounts ...string) {
	l.t.Helper()
	l.grant("use", []string{who}, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: accounts, Verbs: []string{"use"}})
}
