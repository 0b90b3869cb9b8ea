package inputlog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// placeholders stand for passwords in the log and in digests: numbers in the order of appearance.
// They tell whether two passwords are the same, and nothing else of them (R26). Passwords of an
// earlier run are not known any more, so a restart goes on with fresh numbers: with those after the
// number of the last input. As many inputs as there are passwords came before, at the least, so no
// number is given twice, and nobody has to read a log from its beginning to append to it.
type placeholders struct {
	numbers map[core.Secret]uint64
	last    uint64
}

const placeholderPrefix = "secret-"

func (p *placeholders) of(password core.Secret) string {
	number, found := p.numbers[password]
	if !found {
		if p.numbers == nil {
			p.numbers = make(map[core.Secret]uint64)
		}
		p.last++
		number = p.last
		p.numbers[password] = number
	}
	return placeholderPrefix + strconv.FormatUint(number, 10)
}

// placeholderNumber is the inverse; 0 for what is no placeholder.
func placeholderNumber(placeholder string) uint64 {
	digits, found := strings.CutPrefix(placeholder, placeholderPrefix)
	if !found {
		return 0
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || placeholder != placeholderPrefix+strconv.FormatUint(number, 10) {
		return 0
	}
	return number
}

func (e *encoder) credentials(credentials core.Credentials) {
	if credentials.IsZero() {
		e.json.Null()
		return
	}
	e.json.ObjStart()
	e.textField("username", credentials.Username())
	e.textField("password", e.secrets.of(credentials.Password()))
	e.json.ObjEnd()
}

var credentialsFields = []string{"username", "password"}

func (d *decoder) credentials(json *jx.Decoder) (core.Credentials, error) {
	if json.Next() == jx.Null {
		return core.Credentials{}, json.Null()
	}
	var username, password string
	err := decodeObject(json, credentialsFields, func(field string) (err error) {
		switch field {
		case "username":
			username, err = decodeText(json)
		case "password":
			password, err = decodeText(json)
		}
		return err
	})
	if err != nil {
		return core.Credentials{}, err
	}
	number := placeholderNumber(password)
	if number == 0 {
		return core.Credentials{}, fmt.Errorf("a password is no placeholder like %s1",
			placeholderPrefix)
	}
	d.lastSecret = max(d.lastSecret, number)
	return core.NewCredentials(username, password)
}
