/**
 * Bazel 4.2.3 as Debian 12 packages it, without a network: the repositories that it would fetch come from other
 * packages.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bazel } from './bazel-twice.ts'
import { Skip } from './client.ts'

const SHARED = '/usr/share/bazel'
const DEBIAN_PACKAGES = [
  'bazel-bootstrap',
  'bazel-rules-cc',
  'bazel-platforms',
  'bazel-rules-java',
  'bazel-rules-proto',
  'bazel-skylib',
]

/** Prepares Bazel in the folder that the builds will use. */
export function debianBazel(program: string, folder: string): Bazel {
  if (!existsSync(join(SHARED, 'rules/cc'))) throw new Skip(`needs Debian's packages ${DEBIAN_PACKAGES.join(', ')}`)
  const rulesCc = join(folder, 'rules_cc')
  copyRulesCc(rulesCc)
  const overrides = {
    rules_cc: rulesCc,
    rules_java: join(SHARED, 'rules/java'),
    rules_proto: join(SHARED, 'rules/proto'),
    platforms: join(SHARED, 'platforms'),
  }
  const options = [...Object.entries(overrides).map(([name, path]) => override(name, path)), coverageTools(folder)]
  return { start: (args) => ({ program, args }), workspace: { options } }
}

/**
 * The packaged rules are newer than the packaged Bazel: functions that they call by a new name exist under an older
 * one.
 */
function copyRulesCc(target: string): void {
  cpSync(join(SHARED, 'rules/cc'), target, { recursive: true })
  const folder = join(target, 'cc/private/rules_impl')
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.bzl'))) {
    const rules = readFileSync(join(folder, name), 'utf8')
      .replaceAll('"find_cpp_toolchain", "use_cpp_toolchain"', '"find_cpp_toolchain"')
      .replaceAll('use_cpp_toolchain()', '["@bazel_tools//tools/cpp:toolchain_type"]')
    writeFileSync(join(folder, name), rules)
  }
}

/** A line of .bazelrc. */
const override = (name: string, path: string): string => `common --override_repository=${name}=${path}`

/**
 * Test rules refer to the coverage tools even when no coverage is measured. Returns the line of .bazelrc with their
 * path.
 */
export function coverageTools(parent: string): string {
  const folder = join(parent, 'coverage')
  mkdirSync(folder, { recursive: true })
  const tool = (name: string) =>
    `sh_binary(name = "${name}", srcs = ["nothing.sh"], visibility = ["//visibility:public"])\n`
  const group = 'filegroup(name = "coverage_tools", srcs = [], visibility = ["//visibility:public"])\n'
  writeFileSync(join(folder, 'WORKSPACE'), 'workspace(name = "remote_coverage_tools")\n')
  writeFileSync(join(folder, 'BUILD'), tool('coverage_report_generator') + tool('lcov_merger') + group)
  writeFileSync(join(folder, 'nothing.sh'), '#!/bin/sh\n', { mode: 0o755 })
  return override('remote_coverage_tools', folder)
}
