"""blender -b -P blender_pc2.py -- MESH.obj CACHE.pc2 FRAMES FINDINGS.json"""
import json
import os
import sys

import bpy

mesh, cache, frames, output = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=os.path.abspath(mesh))
body = [o for o in bpy.context.scene.objects if o.type == "MESH"][0]
modifier = body.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format = "PC2"
modifier.filepath = os.path.abspath(cache)

found = {"version": bpy.app.version_string, "positions": {}}
for frame in frames.split(","):
    bpy.context.scene.frame_set(int(frame))
    shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found["positions"][frame] = [list(v.co) for v in shown.to_mesh().vertices]
    shown.to_mesh_clear()
with open(output, "w") as out:
    json.dump(found, out)
