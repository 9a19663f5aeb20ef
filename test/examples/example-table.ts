/**
 * The preparation of each example of `--help`. Addresses and digests in the examples are placeholders: WORDS has their
 * replacements. An example that is not in HOW is run to its end as it is, and must exit with 0.
 */
export interface How {
  /** Runs until it is stopped: the test stops it after its first output. */
  readonly serves?: true
  /** A shell command to run before it. */
  readonly before?: string
  /** Arguments appended to keep it short. */
  readonly more?: string
  /** Needs a worker of its own, named host-7. */
  readonly worker?: true
  /** Needs a running task, whose id replaces the one in the example. */
  readonly task?: true
  /** The reason why it is not run here. */
  readonly skip?: string
}

const APT = 'it downloads Debian packages by the hundred; test/languages/build.test.ts builds a system'
const SYSTEM = 'it needs a whole system with R in a folder; test/languages/build.test.ts uses a small one'
const SERVES = { serves: true } as const
const ONE_AREA = { more: " --only 'capabilities.*'" } // test/reapi/reapi-conformance.test.ts runs all of it

export const HOW: Readonly<Record<string, How>> = {
  'windlass up': SERVES,
  'windlass up --slots 2 --data ./grid': SERVES,
  'windlass up --backend host': SERVES,
  'windlass server': SERVES,
  'windlass server --grpc 127.0.0.1:0 --http 127.0.0.1:0': SERVES,
  'windlass server --grpc unix:/run/windlass.sock': SERVES,
  'windlass server --config windlass.toml --insecure': SERVES,
  'windlass worker daemon': SERVES,
  'windlass worker daemon --server-url http://grid:8980': SERVES,
  'windlass worker daemon --server-url http://server:8980 --slots 4': SERVES,
  'windlass worker daemon --server-url http://server:8980 --cas-url http://cache:8980 --backend host --config worker.toml':
    SERVES,
  'windlass worker daemon --protocol http --server-url https://server.example:8080': SERVES,
  'windlass tasks --watch': SERVES,
  'windlass reload': { more: ' --data /var/lib/grid' }, // other examples start servers in the default directory
  'windlass check reapi --target grpc://127.0.0.1:8980': ONE_AREA,
  'windlass check reapi --target grpcs://cache.example.com --ca ca.pem --cert me.pem --key me.key --instance main':
    ONE_AREA,
  'windlass check reapi --target grpc://127.0.0.1:8980 --platform OSFamily=Linux --junit report.xml': ONE_AREA,
  'windlass cas get 9e1a3c0f…/412 --dir -o src': { before: 'rm -r src' },
  'windlass cas get 77d20b1e…/2048 --tree -o out': { before: 'rm -r out' },
  'windlass workers --drain host-7': { worker: true },
  'windlass workers --drain host-7 --shutdown': { worker: true },
  'windlass workers --resume host-7': { worker: true },
  'windlass task 1-2f --cancel': { task: true },
  'windlass languages build python-data': { skip: APT },
  'windlass languages build python --packages python3-requests,python3-yaml': { skip: APT },
  'windlass languages build python --packages python3-sympy --as python-sympy': { skip: APT },
  'windlass languages build r --from /srv/r-with-everything': { skip: SYSTEM },
}

/** The placeholders in examples, and the name of the value that replaces each. */
export const WORDS = {
  'grpc://127.0.0.1:8980': 'grpc',
  'grpc://grid.example.com:8980': 'grpc',
  'http://localhost:8980': 'grpcByHttp',
  'http://grid:8980': 'grpcByHttp',
  'http://server:8980': 'grpcByHttp',
  'http://cache:8980': 'grpcByHttp',
  'http://grid:8080': 'http',
  'https://server.example:8080': 'https',
  'grpcs://cache.example.com': 'grpcs',
  'unix:/run/cache.sock': 'socket',
  'unix:/run/windlass.sock': 'newSocket',
  'HASH/SIZE': 'blob',
  '2c26b46b…/3': 'blob',
  '9e1a3c0f…/412': 'directory',
  '77d20b1e…/2048': 'tree',
  'abc123…/456': 'action',
  '1-2f': 'task',
  '/tmp/test': 'workDir',
  '/var/lib/grid': 'dataDir',
  'dot -Tsvg': 'graphviz',
} as const

export type Replacement = (typeof WORDS)[keyof typeof WORDS]

export function replaced(example: string, by: Readonly<Record<Replacement, string>>): string {
  let text = example
  for (const [word, name] of Object.entries(WORDS)) text = text.replaceAll(word, by[name])
  return text
}
