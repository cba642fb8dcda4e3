package operator

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The manager serves metrics over HTTPS, with the rights that config/rbac gives it, to who shows the token of an account that may get /metrics.
func TestOnlyAuthorizedClientsReadMetrics(t *testing.T) {
	l := newLab(t)
	l.bindClusterRole("rbac/metrics_auth_role.yaml", operatorNamespace, operatorAccount)
	reader, stranger := l.account("reader"), l.account("stranger")
	l.bindClusterRole("rbac/metrics_reader_role.yaml", l.namespace, reader.Name)
	readersToken, strangersToken := l.token(reader), l.token(stranger)
	address := freeAddress(t)
	p := l.startProgram(writeKubeconfig(t), "--health-address=0", "--metrics-address="+address)
	p.await("metrics for their reader", func() bool {
		status, text := l.scraped("https://"+address+"/metrics", readersToken)
		return status == http.StatusOK && strings.Contains(text, "\nlinerate_loadtests{")
	})
	if status, text := l.scraped("http://"+address+"/metrics", readersToken); status == http.StatusOK || strings.Contains(text, "linerate_") {
		t.Errorf("over HTTP: %d: %.300s", status, text)
	}
	for who, c := range map[string]struct {
		token string
		want  int
	}{
		"without a token":                 {"", http.StatusUnauthorized},
		"with a forged token":             {readersToken[:len(readersToken)-4] + "AAAA", http.StatusInternalServerError}, // as controller-runtime has it
		"with the token of somebody else": {strangersToken, http.StatusForbidden},
		"with the reader's token":         {readersToken, http.StatusOK},
	} {
		t.Run(who, func(t *testing.T) {
			status, text := l.scraped("https://"+address+"/metrics", c.token)
			if status != c.want || strings.Contains(text, "linerate_") != (c.want == http.StatusOK) {
				t.Errorf("%d, want %d: %.300s", status, c.want, text)
			}
		})
	}
}

// scraped is what is answered to who shows a token; 0: nothing, as when the server doesn't listen yet. The certificate is the manager's own word for itself.
func (l *lab) scraped(url, token string) (status int, text string) {
	l.t.Helper()
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, url, nil)
	l.must(err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // it signs its certificate itself
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close() //nolint:errcheck // it is read only
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, "" // it closed the connection
	}
	return response.StatusCode, string(body)
}

// account is a ServiceAccount of the lab's namespace, without any rights.
func (l *lab) account(name string) *corev1.ServiceAccount {
	l.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}
	l.must(admin.Create(l.t.Context(), account))
	return account
}

func (l *lab) token(account *corev1.ServiceAccount) string {
	l.t.Helper()
	request := &authenticationv1.TokenRequest{}
	l.must(admin.SubResource("token").Create(l.t.Context(), account, request))
	return request.Status.Token
}

// bindClusterRole gives an account a ClusterRole of config until the test ends.
func (l *lab) bindClusterRole(file, namespace, account string) {
	l.t.Helper()
	role := &rbacv1.ClusterRole{}
	l.must(read(file, role))
	role.Name = l.namespace + "-" + role.Name // other tests' labs are beside it
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}
	l.must(admin.Create(l.t.Context(), role))
	l.must(admin.Create(l.t.Context(), binding))
}
