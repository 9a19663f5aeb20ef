import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '../../src/testing/certificates.ts'
import { requireTool } from '../../src/testing/require.ts'
import { FREE_PORTS, openFolder, ROOT, type Service, serving } from '../first-minutes/windlass-process.ts'
import type { Replacement } from './example-table.ts'
import { shell } from './help-examples.ts'

const CWL = `cwlVersion: v1.2
class: CommandLineTool
id: main
baseCommand: echo
inputs: { text: { type: string, inputBinding: {} } }
stdout: said
outputs: { said: stdout }
`

/** The files that the examples expect in their working directory. */
const FILES: Readonly<Record<string, string>> = {
  'align.cwl': CWL,
  'workflow.cwl': CWL,
  'tools/echo.cwl': CWL,
  'packed.cwl': JSON.stringify({
    cwlVersion: 'v1.2',
    $graph: [
      {
        ...{ class: 'CommandLineTool', id: 'main', baseCommand: 'echo', stdout: 'said' },
        inputs: { text: { type: 'string', inputBinding: {} } },
        outputs: { said: { type: 'stdout' } },
      },
    ],
  }),
  'job.yml': 'text: hello\n',
  'job.json': '{ "text": "hello" }',
  'names.txt': 'b\na\nb\n',
  Makefile: 'test:\n\techo tested\n',
  'lib/Makefile': 'all:\n\techo built > built\n',
  configure: '#!/bin/sh\necho $CC\n',
  'flaky-test': '#!/bin/sh\nexit 0\n',
  'src/lib/x': 'x',
  'out/y': 'y',
  file: 'foo',
  'build.log': 'built',
  'a.o': 'a',
  'b.o': 'b',
  'windlass.toml': '[log]\nlevel = "info"\n',
  'worker.toml': '[worker.host]\nmin_free_bytes = 1\n',
}

export interface ExampleGrid {
  readonly by: Readonly<Record<Replacement, string>>
  readonly env: Readonly<Record<string, string>>
  /** A new folder for one example, with all files that examples expect. */
  folder(): string
  close(): Promise<void>
}

/** A grid, a server with TLS and one on a Unix socket: all that the examples are run against. */
export async function exampleGrid(): Promise<ExampleGrid> {
  const { path, remove } = openFolder('examples')
  let folders = 0
  const dataOfOne = join(path, 'f0/tls')
  const authority = createAuthority()
  const identities = { 'server.': authority.server(), 'me.': authority.client('me') }
  const folder = (): string => {
    const cwd = join(path, `f${folders++}`)
    for (const name of ['tools', 'lib', 'src/lib', 'out']) mkdirSync(join(cwd, name), { recursive: true })
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text)
    for (const name of ['configure', 'flaky-test']) chmodSync(join(cwd, name), 0o755)
    for (const [name, { cert, key }] of Object.entries(identities)) {
      writeFileSync(join(cwd, `${name}pem`), cert)
      writeFileSync(join(cwd, `${name}key`), key)
    }
    writeFileSync(join(cwd, 'ca.pem'), authority.ca)
    writeFileSync(join(cwd, 'grid.toml'), `[server]\ndata_dir = "${dataOfOne}"\n`)
    return cwd
  }
  const cwd = folder()
  const tls = { WINDLASS_SERVER_TLS_CERT_FILE: 'server.pem', WINDLASS_SERVER_TLS_KEY_FILE: 'server.key' }
  const socket = `unix:${path}/cache.sock`
  const services: Service[] = [
    await serving(['up', '--data', './up', '--slots', '2', ...FREE_PORTS], { cwd }),
    await serving(['server', '--data', './tls', ...FREE_PORTS], { cwd, env: tls }),
    await serving(['server', '--data', './socket', '--grpc', socket, '--http', '127.0.0.1:0'], { cwd }),
  ]
  const [plain, secure] = services.map(({ ready }) => ready)
  const portOf = (address: string | undefined): string => /\d+$/.exec(address ?? '')?.[0] ?? ''
  const env = {
    PATH: `${ROOT}/bin:${process.env.PATH}`,
    HOME: path,
    NODE_EXTRA_CA_CERTS: join(cwd, 'ca.pem'),
    WINDLASS_SERVER: `grpc://${plain?.grpc}`,
    WINDLASS_WORKER_LANGUAGES: ',',
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_TLS_CA_FILE: join(cwd, 'ca.pem'),
  }
  const first = async (line: string): Promise<string> => {
    const { code, out, err } = await shell(line, cwd, env)
    if (code !== 0) throw new Error(`${line}: ${out}${err}`)
    return out.trim()
  }
  const by = {
    grpc: `grpc://${plain?.grpc}`,
    grpcByHttp: `http://${plain?.grpc}`,
    http: `http://${plain?.http}`,
    https: `https://localhost:${portOf(secure?.http)}`,
    grpcs: `grpcs://localhost:${portOf(secure?.grpc)}`,
    socket,
    newSocket: 'unix:./windlass.sock',
    blob: await first("windlass cas put file | cut -d' ' -f1"),
    directory: await first("windlass cas put -q src | cut -d' ' -f1"),
    tree: await first("windlass cas put -q --tree src | cut -d' ' -f1"),
    action: await first('windlass run --json -- /bin/echo hello | sed \'s/.*"action":"\\([^"]*\\)".*/\\1/\''),
    task: await first('windlass tasks --json --limit 1 | sed \'s/.*"task":"\\([^"]*\\)".*/\\1/\''),
    workDir: './execute',
    dataDir: dataOfOne,
    graphviz: requireTool('dot').present ? 'dot -Tsvg' : 'cat',
  }
  return {
    by,
    env,
    folder,
    async close() {
      for (const service of services) await service.stop()
      remove()
    },
  }
}
