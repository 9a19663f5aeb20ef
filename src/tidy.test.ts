import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ambient, explicitAny } from './testing/tidy/code-rules.ts'
import { crowdedFolders, importCycles } from './testing/tidy/cycle-rules.ts'
import {
  cycles,
  generatedElsewhere,
  type Layers,
  orphans,
  outOfLayer,
  outOfReach,
} from './testing/tidy/import-rules.ts'
import { bannedWords, barrels, emptyFolders, emptyNames } from './testing/tidy/name-rules.ts'
import { REACH } from './testing/tidy/reach.ts'
import { isTest, listFiles, readSources } from './testing/tidy/read-tree.ts'
import { type Caps, oversized, sizeReport } from './testing/tidy/size-rules.ts'

/** The same for the sub-folders of a folder, where they are layers; `.` is the folder itself. */
const LAYERS: Record<string, Layers> = {
  'src/scheduler': {
    model: [],
    shares: ['model'],
    workers: ['model'],
    queue: ['model', 'shares', 'workers'],
    leases: ['model', 'shares', 'workers', 'queue'],
    placement: ['model', 'shares', 'workers', 'queue', 'leases'],
    '.': ['model', 'shares', 'workers', 'queue', 'leases', 'placement'],
  },
}

/** Hard limits; the aim is a third of them. Hot paths may have longer files and functions. */
const capsOf = (path: string): Caps =>
  /^src\/(grpc|storage\/packs|wire\/(hot|messages))\//.test(path)
    ? { file: 600, function: 150 }
    : { file: 400, function: 60 }

const isEntry = (path: string): boolean =>
  path === 'src/cli/main.ts' || path === 'src/app/client/public.ts' || isTest(path) || isBuild(path)

const seesTheMachine = (path: string): boolean => /^(src\/app|bin)\//.test(path) || isTest(path) || isBuild(path)

const isBuild = (path: string): boolean => /^(bundle|[^/]+\.config)\.ts$/.test(path)

/** Paths of one machine and hosts of one package registry, in pieces, so that this file does not contain them. */
const WORDS = [
  new RegExp(String.raw`(?<![\w.-])/${'work'}/[\w.]+`),
  new RegExp(String.raw`/tmp/${'lab'}\b`),
  // After a quote or a slash, as in an address: a variable of that name has fields as well.
  new RegExp(String.raw`(?<=[/'"=@])(${['registry', 'npm', 'pypi'].join('|')})\.[\w-]+(\.[\w-]+)*\.[a-z]{2,}\b`, 'i'),
  new RegExp(`_auth${'Token'}`),
]

const ROOT = resolve(import.meta.dirname, '..')
const paths = listFiles(ROOT)
const sources = readSources(ROOT, paths)

test('folders import only what is in their reach', () => {
  expect(outOfReach(sources, REACH)).toEqual([])
})

test('sub-folders import only the layers below them', () => {
  expect(outOfLayer(sources, LAYERS)).toEqual([])
})

test('no cycle among files that are loaded together', () => {
  expect(cycles(sources)).toEqual([])
})

test('no cycle among files or folders, imports of types included', () => {
  expect(importCycles(sources)).toEqual([])
})

test('no folder has more than 25 files, tests not counted', () => {
  expect(crowdedFolders(paths, 25)).toEqual([])
})

test('no type is any', () => {
  expect(explicitAny(sources)).toEqual([])
})

test('generated code stays within wire/', () => {
  expect(generatedElsewhere(sources, /^src\/(wire|check)\//)).toEqual([])
})

test('files and functions stay small', () => {
  console.log(sizeReport(sources, capsOf))
  expect(oversized(sources, capsOf)).toEqual([])
})

test('exported names have no empty suffixes', () => {
  expect(emptyNames(sources)).toEqual([])
})

test('folders are named after responsibilities, not kinds of files', () => {
  expect(emptyFolders(paths)).toEqual([])
})

test('no file only re-exports others', () => {
  expect(barrels(sources)).toEqual([])
})

test('every source file is imported', () => {
  expect(orphans(sources, isEntry)).toEqual([])
})

test('no text names one machine or registry', () => {
  expect(bannedWords(ROOT, paths, WORDS)).toEqual([])
})

test('only src/app uses the clock, the process and the environment', () => {
  expect(ambient(sources, seesTheMachine)).toEqual([])
})
