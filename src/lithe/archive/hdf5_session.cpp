#include "lithe/archive/hdf5_session.hpp"

#include "lithe/core/error.hpp"

namespace lithe::hdf5 {
namespace {

/// The library keeps its state per process and need not be built for threads, so there is one lock per process too.
std::mutex& library_mutex()
{
    static std::mutex mutex;
    return mutex;
}

} // namespace

Session::Session() : lock_(library_mutex())
{
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session()
{
    H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

hid_t number_type(ElementType type)
{
    switch (type) {
    case ElementType::Double:
        return H5T_IEEE_F64LE;
    case ElementType::Float:
        return H5T_IEEE_F32LE;
    case ElementType::Int32:
        return H5T_STD_I32LE;
    case ElementType::Int64:
        return H5T_STD_I64LE;
    case ElementType::Text:
        break;
    }
    LITHE_ASSERT(false);
    return -1;
}

Handle utf8_names()
{
    Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_char_encoding(properties, H5T_CSET_UTF8);
    return properties;
}

std::string memory_name(const void* owner)
{
    return "/dev/null/" + std::to_string(reinterpret_cast<std::uintptr_t>(owner));
}

Handle text_type(std::size_t width)
{
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

} // namespace lithe::hdf5
