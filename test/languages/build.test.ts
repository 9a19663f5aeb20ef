import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildLanguage, writeVariant } from '../../src/app/worker/language-build.ts'
import { builtRootfs } from '../../src/languages/built-rootfs.ts'
import { findLanguage } from '../../src/languages/find-language.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import type { Language } from '../../src/model/language.ts'
import { tinyRootfs } from '../../src/runtimes/sandbox/tiny-rootfs.fixture.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'
import { ownFolder } from '../workers/worker-here.ts'

const never = new AbortController().signal
const bash = findLanguage(loadLanguages(), 'bash') as Language
/** The tiny root file system contains only a shell. */
const shell: Language = {
  ...bash,
  name: 'tiny-sh',
  run: { ...bash.run, argv: ['sh', '{file}'] },
  probe: { ...bash.probe, argv: ['sh', '-c', 'echo version 1.0.0'] },
  selfTest: {
    code: 'read name; echo "Hello, $name"; cat /etc/motd',
    stdin: 'you\n',
    stdout: 'Hello, you\nanother system\n',
  },
}

function buildOf(language: Language, from?: string) {
  const folder = ownFolder()
  const folders = {
    own: join(folder, 'own'),
    rootfs: join(folder, 'rootfs'),
    selfTests: join(folder, 'self-tests.json'),
  }
  return { language, packages: [], from, folders, backend: 'sandbox', env: {}, mark: 'mark-1' } as const
}

describeWith(['bwrap', 'ldd'], 'a root file system of a language', () => {
  test('may be an existing directory, and is used when the self-test passes in it', async () => {
    using system = tinyRootfs()
    const build = buildOf(shell, system.path)
    const onProgress: string[] = []
    const built = await buildLanguage(build, { onProgress: (what) => onProgress.push(what), signal: never })
    expect(built).toMatchObject({ path: system.path, report: { outcome: 'passed', version: '1.0.0' } })
    expect(builtRootfs(build.folders.rootfs).get('tiny-sh')?.path).toBe(system.path)
    expect(onProgress).toEqual(['running the self-test'])
  })

  test("is not used when the self-test fails in it, and the user's directory is not changed", async () => {
    using system = tinyRootfs()
    const before = readdirSync(system.path)
    const build = buildOf(bash, system.path)
    await expect(buildLanguage(build, { onProgress() {}, signal: never })).rejects.toThrow(
      /bash does not pass its self-test there/,
    )
    expect(builtRootfs(build.folders.rootfs).size).toBe(0)
    expect(readdirSync(system.path)).toEqual(before)
  })

  test.each(['/', '/no/such/folder'])('cannot be %s', async (from) => {
    await expect(buildLanguage(buildOf(shell, from), { onProgress() {}, signal: never })).rejects.toThrow(/^--from: /)
  })
})

test('a language with further packages can be added beside the one that it extends', () => {
  const own = join(ownFolder(), 'own')
  writeVariant(own, { ...bash, name: 'bash-more', title: 'Bash "more"', libraries: { debian: ['jq'] } }, bash)
  expect(findLanguage(loadLanguages(own), 'bash-more')).toMatchObject({
    title: 'Bash "more"',
    libraries: { debian: ['jq'] },
  })
  const based = findLanguage(loadLanguages(own), 'bash-more') as Language
  expect(() => writeVariant(own, { ...based, name: 'bash-most' }, based)).toThrow(/extends/)
  expect(loadLanguages(own).length).toBe(loadLanguages().length + 1)
})

/** The packages are fetched from the machine's own package sources. */
const isAsked =
  process.env.WINDLASS_LANGUAGES === 'all' && requireTool('apt-get').present && requireTool('bwrap').present
const skipReason = 'systems of Debian packages are built with WINDLASS_LANGUAGES=all'

describe('a root file system of Debian packages', isAsked ? {} : { skip: true, meta: { skipReason } }, () => {
  test('has the libraries of the language, and a package that does not exist leaves no files behind', async () => {
    const build = buildOf(findLanguage(loadLanguages(), 'python-data') as Language)
    const built = await buildLanguage(build, { onProgress() {}, signal: never })
    expect(built.report).toMatchObject({ outcome: 'passed', version: expect.stringMatching(/^3\./) })
    expect(builtRootfs(build.folders.rootfs).get('python-data')?.packages).toEqual(
      expect.arrayContaining([expect.stringMatching(/^python3-numpy_/), expect.stringMatching(/^python3-pandas_/)]),
    )
    const before = readdirSync(build.folders.rootfs)
    const wrong = { ...build, packages: ['no-such-package-at-all'], mark: 'mark-2' }
    await expect(buildLanguage(wrong, { onProgress() {}, signal: never })).rejects.toThrow(/no-such-package-at-all/)
    expect(readdirSync(build.folders.rootfs)).toEqual(before)
  }, 600_000)
})
