/**
 * Bazel with remote execution of every action and none run locally: the large workspace is built and tested, first by a
 * machine that finds nothing in the cache, then by one with an empty output base that finds everything there.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bazel, summaryOf, words } from './bazel-twice.ts'
import type { ServerAddress } from './client.ts'
import { SAID_BY_BROKEN, TROUBLE, writeLargeWorkspace } from './large-workspace.ts'
import { type Ended, inWords, runToEnd } from './run-command.ts'

const SOME_TESTS_FAILED = 3
const BUILD_FAILED = 1
/** Fewer actions would prove too little. */
const LEAST_ACTIONS = 200
/** The failing test, the action that writes its log, and on some versions the same for the flaky test. */
const MOST_AGAIN = 3
/** The first run of the flaky test, and the action that wrote its log. */
const MOST_ONCE = 2

export interface RemoteBuild {
  readonly bazel: Bazel
  readonly server: ServerAddress
  /** The directory of everything that this client writes, the workspace included. */
  readonly folder: string
  /** The name of its output base: another name stands for another machine. */
  readonly machine: string
  /** `test //...` and the like. */
  readonly args: readonly string[]
}

/** Runs Bazel once and returns its end, successful or not. */
export function runRemotely({ bazel, server, folder, machine, args }: RemoteBuild): Promise<Ended> {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  // In batch mode Bazel leaves no server process behind, however the run ends.
  const startup = [
    '--batch',
    `--output_user_root=${join(folder, 'user-root')}`,
    `--output_base=${join(folder, machine)}`,
  ]
  const [verb = 'build', ...rest] = args
  const options = [
    ...[`--remote_executor=grpc://${server}`, '--remote_local_fallback=false'],
    ...['--spawn_strategy=remote', '--genrule_strategy=remote', '--strategy=TestRunner=remote'],
    ...['--color=no', '--curses=no', '--symlink_prefix=/', '--noshow_progress'],
    ...(verb === 'test' ? ['--flaky_test_attempts=flaky@3', '--test_output=errors'] : []),
  ]
  const command = bazel.start([...startup, verb, ...options, ...rest])
  return runToEnd({ ...command, cwd: join(folder, 'workspace'), env: { HOME: home } })
}

export interface Executing {
  readonly bazel: Bazel
  readonly server: ServerAddress
  readonly folder: string
  readonly word: string
}

/** Returns a description of the outcome; throws when it is not as expected. */
export async function executeLarge({ bazel, server, folder, word }: Executing): Promise<string> {
  const place = { folder: join(folder, 'workspace'), memory: join(folder, 'memory') }
  writeLargeWorkspace({ ...bazel.workspace, ...place, word })
  const here = { bazel, server, folder }
  const everything = ['test', '--jobs=50', '//...']
  const first = await runRemotely({ ...here, machine: 'first', args: everything })
  // A sandboxed test cannot reach its memory directory, and so never fails.
  const actions = assertFirst(first, 'PASSED')
  assertSecond(await runRemotely({ ...here, machine: 'second', args: everything }), first)
  const broken = await runRemotely({ ...here, machine: 'second', args: ['build', TROUBLE.broken] })
  assert.equal(broken.code, BUILD_FAILED, `what cannot be built was not refused: ${inWords(broken)}`)
  assert.match(broken.output, RegExp(`Exit 3[^]*${SAID_BY_BROKEN}|${SAID_BY_BROKEN}[^]*Exit 3`), inWords(broken))
  return `${actions} actions run, failures where they belong, then all from the cache`
}

/** Every action ran remotely; returns their number. */
export function assertFirst(ended: Ended, flaky: 'FLAKY' | 'PASSED'): number {
  assertVerdicts(ended)
  assert.equal(verdicts(ended).get(TROUBLE.flaky), flaky, inWords(ended))
  const ways = summaryOf(ended.output)
  const remote = ways.get('remote') ?? 0
  assert.ok(remote >= LEAST_ACTIONS, `only ${words(ways)}`)
  assertOnly(ways, ['internal', 'remote'])
  return remote
}

/** Every action came from the cache except the failed test: failures are never cached. */
function assertSecond(ended: Ended, first: Ended): void {
  assertVerdicts(ended)
  assert.equal(verdicts(ended).get(TROUBLE.flaky), 'PASSED', inWords(ended))
  const [before, after] = [summaryOf(first.output), summaryOf(ended.output)]
  const both = `the second build: ${words(after)}; the first: ${words(before)}`
  assertOnly(after, ['internal', 'remote', 'remote cache hit'])
  const [again = 0, hits = 0] = [after.get('remote'), after.get('remote cache hit')]
  assert.ok(again >= 1 && again <= MOST_AGAIN, both)
  assert.ok(hits >= (before.get('remote') ?? 0) - again - MOST_ONCE, both)
}

function assertOnly(ways: ReadonlyMap<string, number>, allowed: readonly string[]): void {
  for (const way of ways.keys()) assert.ok(allowed.includes(way), `some actions ran otherwise: ${words(ways)}`)
}

/** Bazel's verdict on each test. */
function verdicts({ output }: Ended): Map<string, string> {
  const lines = output.matchAll(/^(\/\/\S+) +(?:\(cached\) )?([A-Z]+)/gm)
  return new Map([...lines].map(([, label = '', verdict = '']) => [label, verdict]))
}

/** The test that must fail does, and no other. */
function assertVerdicts(ended: Ended): void {
  assert.equal(ended.code, SOME_TESTS_FAILED, `not the one failing test: ${inWords(ended)}`)
  const printed = verdicts(ended)
  assert.ok(printed.size >= 8, `only ${printed.size} tests ran: ${inWords(ended)}`)
  for (const [label, verdict] of printed) {
    const expected = label === TROUBLE.failing ? ['FAILED'] : label === TROUBLE.flaky ? ['FLAKY', 'PASSED'] : ['PASSED']
    assert.ok(expected.includes(verdict), `${label} ${verdict}: ${inWords(ended)}`)
  }
}
