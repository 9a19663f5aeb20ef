/**
 * In words, why a symlink may lead out of the tree that it is part of; undefined when it cannot. `path` is where it is,
 * from the root, by directories that are none themselves.
 *
 * `..` is allowed only before the first name: there it climbs real directories and can be counted. Behind a name it
 * would climb from wherever another symlink leads (`up` → `../..` makes of `a/b/up/../x` something outside). What is
 * left after that goes down only, and where a link of the tree is met on the way, the same holds for that one.
 */
export function leadsOut(path: string, target: string): string | undefined {
  if (target.startsWith('/')) return 'is absolute'
  let depth = path.split('/').length - 1
  let isDescending = false
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') isDescending = true
    else if (isDescending) return 'has .. after a name'
    else if (--depth < 0) return 'leads out of the tree'
  }
  return undefined
}
