# lithe_embed_texts(OUTPUT FILE...): writes a C++ file with the texts of FILE... as one table, by their names
# without ending. Runs at configure time; an edit of a text configures again.
function(lithe_embed_texts output)
  set(code "namespace {\nstruct EmbeddedText {\n    const char* name;\n    const char* text;\n};\nconstexpr EmbeddedText embedded_texts[] = {\n")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND code "    {\"${name}\", R\"text(${text})text\"},\n")
  endforeach()
  string(APPEND code "};\n} // namespace\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${code}" @ONLY)
endfunction()
