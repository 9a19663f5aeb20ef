// A worker over HTTP, from its protocol's description alone: register, ask for work, run it, say how it went.
//   node examples/http-worker.mjs http://127.0.0.1:8080 [name]
// Commands run as they are, with no room around them: only for a grid whose users you trust.
import { spawn } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { setInterval, setTimeout } from 'node:timers/promises'

const [server = 'http://127.0.0.1:8080', name = 'example'] = process.argv.slice(2)
let id

async function call(method, path, body) {
  const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(`${server}/api/v1/workers${path}`, { method, ...sent })
  if (response.status === 204) return undefined
  const { data, error } = await response.json()
  if (!response.ok) throw Object.assign(new Error(error.message), { status: response.status })
  return data
}

/** Also while a command runs: a worker that is silent is taken for gone. */
async function keepAlive() {
  for await (const _ of setInterval(10_000)) if (id) await call('PUT', `/${id}/heartbeat`).catch(() => {})
}

/** The command in a directory of its own, its files beside it; resolves with what is to be told about it. */
async function run({ inputs }, workdir) {
  for (const file of Object.values(inputs).filter((input) => input?.class === 'File')) {
    const path = join(workdir, file.path ?? file.basename)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file.contents)
  }
  const [program, ...args] = inputs._base_command
  const child = spawn(program, args, { cwd: workdir, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      printed[stream] += text
    })
  }
  const exit_code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => resolve(code ?? 137))
  })
  const outputs = {}
  for (const path of globSync(inputs._output_globs ?? [], { cwd: workdir })) {
    const from = join(workdir, path)
    if (statSync(from).isFile())
      outputs[path] = { class: 'File', basename: basename(path), contents: readFileSync(from, 'utf8') }
  }
  return { state: exit_code === 0 ? 'success' : 'failed', exit_code, ...printed, outputs }
}

async function work(task) {
  const workdir = mkdtempSync(join(tmpdir(), 'http-worker-'))
  await call('PUT', `/${id}/tasks/${task.id}/status`, { state: 'RUNNING' })
  const end = await run(task, workdir).catch((error) => ({ state: 'failed', stderr: String(error) }))
  rmSync(workdir, { recursive: true, force: true })
  await call('PUT', `/${id}/tasks/${task.id}/complete`, end)
}

process.once('SIGTERM', () => call('DELETE', `/${id}`).finally(() => process.exit(0)))
void keepAlive()
for (;;) {
  try {
    id ??= (await call('POST', '', { name, hostname: hostname(), runtime: 'none', labels: {} })).id
    const task = await call('GET', `/${id}/work?wait=30s`)
    if (task) await work(task)
  } catch (error) {
    if (error.status === 404) id = undefined // the server has started anew, and does not know us
    await setTimeout(1000)
  }
}
