package kubernetes

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ParseName reads the name of an object, NAME or namespace/name.
func ParseName(text, defaultNamespace string) (types.NamespacedName, error) {
	namespace, name, both := strings.Cut(text, "/")
	if !both {
		namespace, name = defaultNamespace, text
	}
	if err := checkNamespace(namespace); err != nil {
		return types.NamespacedName{}, err
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return types.NamespacedName{}, fmt.Errorf("name %q: %s", name, problems[0])
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

func checkNamespace(namespace string) error {
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return fmt.Errorf("namespace %q: %s", namespace, problems[0])
	}
	return nil
}
