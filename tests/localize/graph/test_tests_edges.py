from codeforge.localize.files import list_files
from codeforge.localize.graph.model import Direction, RelationKind
from codeforge.localize.index import CodeIndex
from tests.localize.conftest import MakeRepo


def test_what_is_imported_and_invoked_is_tested_once(make_repo: MakeRepo) -> None:
    root = make_repo(
        {
            "src/cart.js": "export function add() {}\n",
            "test/cart.test.js": "import { add } from '../src/cart';\nit('adds', () => { add(); });\n",
            "tool.py": "def work(): pass\n",
            "tests/test_tool.py": "from tool import work\n\nwork()\n",
        }
    )
    with CodeIndex.open(root, list_files(root)) as index:
        graph = index.graph
        for file, count in (("test/cart.test.js", 2), ("tests/test_tool.py", 2)):
            node = graph.find(file)
            assert node is not None
            found = graph.neighbours(node, Direction.FORWARD, (RelationKind.TESTS,), weak=True)
            assert len(found) == len({one.node for one in found}) == count
