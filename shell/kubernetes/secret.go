package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The keys of the Secret.
const (
	UsernameKey = "dataplane_username"
	PasswordKey = "dataplane_password"
)

var secretsResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// CredentialsSecret follows the one Secret that holds the agents' credentials. It asks for nothing
// but this Secret by its name, so that permission for this name is enough. What is invalid is
// refused by name, without the value, and the credentials before stay in use (R27).
type CredentialsSecret struct {
	name      types.NamespacedName
	resource  dynamic.ResourceInterface
	informer  cache.SharedIndexInformer
	listWatch *listWatch
	logger    *slog.Logger

	mu      sync.Mutex
	seen    bool // the Secret was there once, or is known not to be
	last    core.Credentials
	problem string
}

// NewCredentialsSecret makes it; Read and Run ask the API server.
func NewCredentialsSecret(
	cluster *Cluster, name types.NamespacedName, logger *slog.Logger,
) *CredentialsSecret {
	logger = orDiscard(logger)
	resource := cluster.Client.Resource(secretsResource).Namespace(name.Namespace)
	lw := &listWatch{
		resource: resource,
		tweak: func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name.Name).String()
		},
		kind:    "Secret",
		asked:   fmt.Sprintf("Secret %s", name),
		server:  cluster.Server,
		contact: newContact("Secret "+name.String(), logger),
		limits:  defaultWatchLimits,
	}
	return &CredentialsSecret{
		name: name, resource: resource, listWatch: lw, logger: logger,
		informer: newInformer(lw, cluster, trimSecret),
	}
}

// Read gets the credentials now. The error is a *Failure if the API server could not be asked or has
// refused; otherwise it says what is wrong with the Secret, without any value.
func (s *CredentialsSecret) Read(ctx context.Context) (core.Credentials, error) {
	ctx = klog.NewContext(ctx, quiet(s.logger))
	if err := s.listWatch.check(ctx); err != nil {
		return core.Credentials{}, err
	}
	object, err := s.resource.Get(ctx, s.name.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return core.Credentials{}, s.missing()
	case err != nil:
		return core.Credentials{}, s.listWatch.failure("get", err)
	}
	credentials, err := s.credentials(object)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = credentials
	}
	return credentials, err
}

// View tells how well the Secret is seen. Safe at any time.
func (s *CredentialsSecret) View() View { return s.listWatch.contact.view() }

// Problem says what is wrong with the Secret at present; empty if nothing is. Safe at any time.
func (s *CredentialsSecret) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Run follows the Secret until ctx ends, once. It tells handle, usually Component.HandleEvent, from one
// goroutine, core.CredentialsUpdated with credentials that differ from those before, be it those
// that Read gave.
func (s *CredentialsSecret) Run(ctx context.Context, handle func(event any)) error {
	take := func(object any) {
		if fields, isFields := object.(*unstructured.Unstructured); isFields {
			credentials, err := s.credentials(fields)
			s.take(credentials, err, handle)
		}
	}
	_, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    take,
		UpdateFunc: func(_, object any) { take(object) },
		DeleteFunc: func(any) { s.take(core.Credentials{}, s.missing(), handle) },
	})
	if err != nil {
		return fmt.Errorf("following Secret %q: %w", s.name, err)
	}
	follow(ctx, s.informer, s.listWatch, func() {
		if len(s.informer.GetIndexer().ListKeys()) == 0 {
			s.noteUnlessSeen(s.missing()) // it may have been created meanwhile
		}
	})
	return nil
}

// take tells what is new.
func (s *CredentialsSecret) take(credentials core.Credentials, err error, handle func(event any)) {
	s.mu.Lock()
	isNew := s.note(credentials, err)
	s.mu.Unlock()
	if isNew {
		handle(core.CredentialsUpdated{Credentials: credentials})
	}
}

// noteUnlessSeen takes down a problem, if nothing is known of the Secret yet.
func (s *CredentialsSecret) noteUnlessSeen(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen {
		s.note(core.Credentials{}, err)
	}
}

// note takes down what was read, and logs what is wrong, once. The caller holds the lock.
func (s *CredentialsSecret) note(credentials core.Credentials, err error) (isNew bool) {
	s.seen = true
	if err != nil {
		if s.problem != err.Error() {
			s.problem = err.Error()
			inUse := "the old ones stay in use"
			if s.last.IsZero() {
				inUse = "nothing is probed until there are some"
			}
			s.logger.Error("credentials unreadable, "+inUse, "error", err)
		}
		return false
	}
	if s.problem != "" {
		s.problem = ""
		s.logger.Info("credentials readable again", "secret", s.name)
	}
	if credentials == s.last {
		return false
	}
	s.last = credentials
	s.logger.Info("new credentials", "secret", s.name, "username", credentials.Username())
	return true
}

func (s *CredentialsSecret) missing() error {
	return fmt.Errorf("Secret %s does not exist; create it with the keys %s and %s",
		s.name, UsernameKey, PasswordKey)
}

// credentials reads the two keys. No error shows a value, nor a library's error that might.
func (s *CredentialsSecret) credentials(
	object *unstructured.Unstructured,
) (core.Credentials, error) {
	var secret corev1.Secret
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &secret)
	if err != nil {
		return core.Credentials{}, fmt.Errorf("Secret %s cannot be decoded", s.name)
	}
	for _, key := range []string{UsernameKey, PasswordKey} {
		if _, found := secret.Data[key]; !found {
			return core.Credentials{}, fmt.Errorf("Secret %s has no key %s; add it", s.name, key)
		}
	}
	credentials, err := core.NewCredentials(
		core.TrimFile(string(secret.Data[UsernameKey])),
		core.TrimFile(string(secret.Data[PasswordKey])))
	if err != nil {
		return core.Credentials{}, fmt.Errorf("Secret %s: %w", s.name, err)
	}
	return credentials, nil
}

// trimSecret is a cache.TransformFunc that keeps the two keys, and what the watch needs.
func trimSecret(object any) (any, error) {
	secret, isFields := object.(*unstructured.Unstructured)
	if !isFields || secret == nil {
		return object, nil
	}
	trimmed := pick(secret.Object, "apiVersion", "kind", "metadata", "data")
	if metadata, isObject := trimmed["metadata"].(map[string]any); isObject {
		trimmed["metadata"] = pick(metadata, "namespace", "name", "uid", "resourceVersion")
	}
	if data, isObject := trimmed["data"].(map[string]any); isObject {
		trimmed["data"] = pick(data, UsernameKey, PasswordKey)
	}
	return &unstructured.Unstructured{Object: trimmed}, nil
}
