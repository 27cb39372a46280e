package weights

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// unpickle runs the pickle at the start of b, which vet has walked, and returns its value and the bytes after it.
// storages collects what the stream refers to by persistent ids; nil allows none.
func unpickle(b []byte, storages map[string]*storage) (value any, rest []byte, err error) {
	n, err := vet(b)
	if err != nil {
		return nil, nil, err
	}
	// vet leaves nothing that is known to panic. A file must not end a program, even where that is wrong.
	defer func() {
		if r := recover(); r != nil {
			value, rest, err = nil, nil, fmt.Errorf("%w: pickle: %v", ErrFormat, r)
		}
	}()
	u := pickle.NewUnpickler(bytes.NewReader(b[:n]))
	u.FindClass = func(module, name string) (any, error) {
		if c := resolve(module, name); c != nil {
			return c, nil
		}
		return nil, fmt.Errorf("refused the class %s", quoteClass(module, name))
	}
	u.PersistentLoad = func(id any) (any, error) {
		if storages == nil {
			return nil, errors.New("a storage where none belongs")
		}
		return loadStorage(id, storages)
	}
	value, err = u.Load()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: pickle: %s", ErrFormat, short(err.Error()))
	}
	return value, b[n:], nil
}

// short cuts a message into which the library may have printed much of the file.
func short(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}

// storage is a flat array that tensors are views of.
type storage struct {
	dtype DType
	n     int    // elements
	data  []byte // n·Size() bytes, little-endian, once the file's bytes have been found
}

// storageClass stands for torch.FloatStorage and its kin.
type storageClass struct{ dtype DType }

// loadStorage answers a persistent id, ("storage", class, key, location, elements[, view]). The location, "cpu" or
// "cuda:0", says where the tensor was and changes nothing.
func loadStorage(id any, storages map[string]*storage) (*storage, error) {
	t, ok := id.(*types.Tuple)
	if !ok || t.Len() < 5 || t.Len() > 6 || t.Get(0) != "storage" {
		return nil, errors.New("a persistent id that is no storage")
	}
	class, classOK := t.Get(1).(storageClass)
	key, keyOK := t.Get(2).(string)
	n, nOK := t.Get(4).(int)
	if !classOK || !keyOK || !nOK || n < 0 {
		return nil, errors.New("a storage without class, key or size")
	}
	if t.Len() == 6 && t.Get(5) != nil {
		return nil, errors.New("a view of a storage, as PyTorch before 0.4 wrote them: load and save the file with a newer one")
	}
	if s, ok := storages[key]; ok {
		if s.dtype != class.dtype || s.n != n {
			return nil, fmt.Errorf("storage %q is %d elements of %s, and then %d of %s", key, s.n, s.dtype, n, class.dtype)
		}
		return s, nil
	}
	s := &storage{dtype: class.dtype, n: n}
	storages[key] = s
	return s, nil
}

// view is a tensor before its storage is known.
type view struct {
	storage      *storage
	offset       int
	size, stride []int
}

// rebuildTensor is torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]).
type rebuildTensor struct{}

func (rebuildTensor) Call(args ...any) (any, error) {
	if len(args) < 5 || len(args) > 7 {
		return nil, fmt.Errorf("a tensor is made of 5 to 7 arguments, not %d", len(args))
	}
	s, ok := args[0].(*storage)
	if !ok {
		return nil, errors.New("a tensor without a storage")
	}
	offset, ok := args[1].(int)
	size, sizeOK := ints(args[2])
	stride, strideOK := ints(args[3])
	if !ok || !sizeOK || !strideOK {
		return nil, errors.New("a tensor whose offset, size or stride is not of whole numbers")
	}
	return &view{s, offset, size, stride}, nil
}

// rebuildParameter is torch._utils._rebuild_parameter(tensor, requires_grad, hooks).
type rebuildParameter struct{}

func (rebuildParameter) Call(args ...any) (any, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("a parameter is made of 3 arguments, not %d", len(args))
	}
	v, ok := args[0].(*view)
	if !ok {
		return nil, errors.New("a parameter that is no tensor")
	}
	return v, nil
}

func ints(x any) ([]int, bool) {
	t, ok := x.(*types.Tuple)
	if !ok {
		return nil, false
	}
	out := make([]int, t.Len())
	for i := range out {
		if out[i], ok = t.Get(i).(int); !ok {
			return nil, false
		}
	}
	return out, true
}

// entry is one item of a state_dict.
type entry struct {
	name string
	view *view
}

// entries lists a state_dict's items in order.
func entries(value any) ([]entry, error) {
	var out []entry
	seen := map[string]bool{}
	add := func(key, value any) error {
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("%w: a key of the state_dict is not a string", ErrFormat)
		}
		v, ok := value.(*view)
		if !ok {
			return fmt.Errorf("%w: entry %q is no tensor: need a state_dict, as torch.save(model.state_dict(), path) writes it",
				ErrFormat, short(name))
		}
		if seen[name] {
			return fmt.Errorf("%w: %q appears twice", ErrFormat, short(name))
		}
		seen[name] = true
		out = append(out, entry{name, v})
		return nil
	}
	items, ok := itemsOf(value)
	if !ok {
		return nil, fmt.Errorf("%w: the pickle is no dictionary: need a state_dict, as torch.save(model.state_dict(), path) writes it",
			ErrFormat)
	}
	for _, item := range wrapped(items) {
		if err := add(item.Key, item.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// itemsOf are the entries of a dictionary; false: it is none.
func itemsOf(value any) (items []types.DictEntry, ok bool) {
	switch d := value.(type) {
	case *types.OrderedDict:
		for e := d.List.Front(); e != nil; e = e.Next() {
			item := e.Value.(*types.OrderedDictEntry)
			items = append(items, types.DictEntry{Key: item.Key, Value: item.Value})
		}
	case *types.Dict:
		for _, item := range *d {
			items = append(items, types.DictEntry{Key: item.Key, Value: item.Value})
		}
	default:
		return nil, false
	}
	return items, true
}

// wrappers are the names under which checkpoints keep a state_dict beside the epoch and the optimizer.
var wrappers = []string{"state_dict", "model_state_dict", "model", "net", "network"}

// wrapped are the entries of the state_dict that a checkpoint without a tensor of its own wraps, or those given.
func wrapped(items []types.DictEntry) []types.DictEntry {
	for _, item := range items {
		if _, tensor := item.Value.(*view); tensor {
			return items
		}
	}
	for _, name := range wrappers {
		for _, item := range items {
			if inner, ok := itemsOf(item.Value); ok && item.Key == name {
				return inner
			}
		}
	}
	return items
}
